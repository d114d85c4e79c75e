/**
 * Compatible: adds which parameter values a build serves. Workers of the release before announce none, and every value is
 * then admitted.
 */
import { Migration } from '@mikro-orm/migrations';

export class ServedValues extends Migration {
  override up(): void {
    this.addSql(`
      -- By parameter, the values that the build serves, for the parameters that depend on the model. Null: every value.
      alter table installed_builds add column served_values jsonb;
    `);
  }

  override down(): void {
    this.addSql('alter table installed_builds drop column served_values;');
  }
}
