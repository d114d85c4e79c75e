/** What the application receives from its composition root. */
import type { Client } from '@temporalio/client';
import type { Logger } from 'pino';
import type { EndpointContract } from '../contracts/endpoint-contract.ts';
import type { PaymentProvider } from '../credits/payments/payment-provider.ts';
import type { DispatchTokens } from '../jobs/dispatch-tokens.ts';
import type { SettlementListener } from '../jobs/settlement-listener.ts';
import type { Observability } from '../observability/observability.ts';
import type { KeyUse } from '../organizations/key-use.ts';
import type { MikroORM } from '../platform/database/orm.ts';
import type { SealedSecrets } from '../platform/sealed-secrets.ts';
import type { SignedUrls } from '../platform/signed-urls.ts';
import type { ObjectStore } from '../platform/storage/object-store.ts';
import type { LicenseSigning } from '../sdk-licenses/license-signing.ts';
import type { CallbackDependencies } from './internal/callbacks.ts';
import type { JobStreams } from './job-streams.ts';
import type { IdentityProvider } from './management/authenticate-member.ts';
import type { ConsoleSettings } from './routes/console.ts';

export interface AppDependencies {
  endpoints: readonly EndpointContract[];
  orm: MikroORM;
  temporal: Client;
  settlements: SettlementListener;
  jobStreams: JobStreams;
  store: ObjectStore;
  publicBaseUrl: string;
  signedUrls: SignedUrls;
  openJobsLimit: number;
  creditsPerUsd: number;
  /** Null: live credits cannot be bought. */
  payments: PaymentProvider | null;
  /** Null: the management API is disabled. */
  identityProvider: IdentityProvider | null;
  /** Omitted: the console is not served. */
  console?: ConsoleSettings | null;
  /** Origins that the links in results lead to; that of `publicBaseUrl` when omitted. */
  pictureOrigins?: readonly string[];
  sealedSecrets: SealedSecrets;
  findWebhookUrlProblem(url: string): Promise<string | null>;
  keyUse: KeyUse;
  licenseSigning: LicenseSigning;
  dispatchTokens: DispatchTokens;
  readRemoteResult: CallbackDependencies['readRemoteResult'];
  logger: Logger;
  /** Omitted: requests are neither counted nor traced. */
  observability?: Pick<Observability, 'metrics' | 'tracing'>;
  clock?: () => Date;
  waitCeilingMs?: number;
}
