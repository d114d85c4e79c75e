import { Client, type ClientPlugin, Connection } from '@temporalio/client';

interface TemporalOptions {
  address: string;
  namespace: string;
  plugins?: ClientPlugin[];
}

/** A client that connects on its first call and reconnects by itself after an outage of Temporal. */
export function openTemporalClient({ address, namespace, plugins = [] }: TemporalOptions): Client {
  return new Client({ connection: Connection.lazy({ address }), namespace, plugins });
}
