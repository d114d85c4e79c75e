/**
 * Gives the pool back the place of a connection that was lost in mid-transaction. Kysely releases a transaction's
 * connection after a successful `commit` or `rollback` only, and never after a failed `begin`: each lost connection
 * would take one place of the pool for as long as the process lives.
 * Source: kysely 0.29, `ControlledTransactionBuilder.execute`, `ControlledTransaction.commit` and `.rollback`.
 */
import { type Configuration, PostgreSqlConnection, PostgreSqlDriver } from '@mikro-orm/postgresql';
import type { Driver, PostgresDialect } from 'kysely';
import { isConnectionLoss } from './connection-loss.ts';

// Typed as what it extends, so that the entity manager keeps its type.
export const ReleasingDriver: typeof PostgreSqlDriver = class extends PostgreSqlDriver {
  protected override readonly connection: PostgreSqlConnection;

  constructor(config: Configuration) {
    super(config);
    this.connection = new ReleasingConnection(config);
  }
};

class ReleasingConnection extends PostgreSqlConnection {
  override createKyselyDialect(overrides: Parameters<PostgreSqlConnection['createKyselyDialect']>[0]): PostgresDialect {
    const dialect = super.createKyselyDialect(overrides);
    const createDriver = dialect.createDriver.bind(dialect);
    dialect.createDriver = () => releasingLost(createDriver());
    return dialect;
  }
}

function releasingLost(driver: Driver): Driver {
  const begin = driver.beginTransaction.bind(driver);
  const rollback = driver.rollbackTransaction.bind(driver);
  driver.beginTransaction = async (connection, settings) => {
    try {
      await begin(connection, settings);
    } catch (error) {
      await driver.releaseConnection(connection);
      throw error;
    }
  };
  driver.rollbackTransaction = async (connection) => {
    try {
      await rollback(connection);
    } catch (error) {
      // PostgreSQL has rolled back what a lost connection had begun.
      if (!isConnectionLoss(error)) throw error;
    }
  };
  return driver;
}
