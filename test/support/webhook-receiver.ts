export {
  type ReceivedDelivery,
  startWebhookReceiver,
  type WebhookReceiver,
} from '../../src/embedded/webhook-receiver.ts';
