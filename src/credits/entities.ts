/** Rows of the ledger. Columns are the snake_case of the properties. */
import { defineEntity, p } from '@mikro-orm/core';
import type { LedgerAccount, TransferKind } from '../contracts/credits.ts';

const CreditTransferSchema = defineEntity({
  name: 'CreditTransfer',
  tableName: 'credit_transfers',
  properties: {
    /** A growing number. */
    id: p.bigint('string').primary(),
    organizationId: p.text(),
    livemode: p.boolean(),
    kind: p.text().$type<TransferKind>(),
    fromAccount: p.text().$type<LedgerAccount>(),
    toAccount: p.text().$type<LedgerAccount>(),
    amount: p.bigint('number'),
    jobId: p.text().strictNullable(),
    grantId: p.text().strictNullable(),
    reason: p.text().strictNullable(),
    createdAt: p.datetime(),
  },
});
export class CreditTransfer extends CreditTransferSchema.class {}
CreditTransferSchema.setClass(CreditTransfer);
