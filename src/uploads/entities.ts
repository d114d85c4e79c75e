/** Rows of uploads. Columns are the snake_case of the properties. */
import { defineEntity, p } from '@mikro-orm/core';

const UploadSchema = defineEntity({
  name: 'Upload',
  tableName: 'uploads',
  properties: {
    id: p.text().primary(),
    organizationId: p.text(),
    livemode: p.boolean(),
    status: p.text().$type<'pending' | 'ready'>(),
    filename: p.text().strictNullable(),
    mediaType: p.text(),
    /** As announced while pending, as stored when ready. */
    bytes: p.bigint('number'),
    receivedBytes: p.bigint('number'),
    /** First byte of the last part when its request broke off; otherwise null. */
    brokenPartStart: p.bigint('number').nullable(),
    /** Hex; null while pending. */
    sha256: p.text().strictNullable(),
    storageKey: p.text(),
    createdAt: p.datetime(),
    expiresAt: p.datetime(),
    usedAt: p.datetime().strictNullable(),
  },
});
export class Upload extends UploadSchema.class {}
UploadSchema.setClass(Upload);
