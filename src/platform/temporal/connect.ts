import {
  Client,
  type ClientPlugin,
  Connection,
  defaultGrpcRetryOptions,
  makeGrpcRetryInterceptor,
} from '@temporalio/client';

interface TemporalOptions {
  address: string;
  namespace: string;
  plugins?: ClientPlugin[];
}

/** A client that connects on its first call and reconnects by itself after an outage of Temporal. */
export function openTemporalClient({ address, namespace, plugins = [] }: TemporalOptions): Client {
  const retry = defaultGrpcRetryOptions();
  let isClosed = false;
  // Closing ends the calls that are open; one that is then repeated would throw in a timer, and end the process.
  const retryableDecider: typeof retry.retryableDecider = (attempt, status) =>
    !isClosed && retry.retryableDecider(attempt, status);
  const interceptors = [makeGrpcRetryInterceptor({ ...retry, retryableDecider })];
  const connection = Connection.lazy({ address, interceptors });
  const close = connection.close.bind(connection);
  connection.close = async () => {
    isClosed = true;
    await close();
  };
  return new Client({ connection, namespace, plugins });
}
