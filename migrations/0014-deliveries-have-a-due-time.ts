/**
 * Compatible: adds the time by which a pending delivery is checked. The release before neither reads nor moves it; its
 * deliveries are checked ten minutes after they were made, and starting a workflow that runs changes nothing.
 */
import { Migration } from '@mikro-orm/migrations';

export class DeliveriesHaveADueTime extends Migration {
  override up(): void {
    this.addSql(`
      -- Ten minutes after the next attempt is due. A delivery that is still pending then may have lost its workflow.
      alter table webhook_deliveries
        add column due_at timestamptz not null default now() + interval '10 minutes';
      create index webhook_deliveries_due on webhook_deliveries (due_at) where status = 'pending';
    `);
  }

  override down(): void {
    this.addSql('drop index webhook_deliveries_due; alter table webhook_deliveries drop column due_at;');
  }
}
