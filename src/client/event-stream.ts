/** Reads server-sent events. */

/** Yields the `data` of each event as it arrives. Comments and other fields are skipped. */
export async function* readEventData(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let text = '';
  // Not `for await`: streams of Safari cannot be iterated.
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      text += decoder.decode(value, { stream: true });
      const events = text.split(/\r?\n\r?\n/);
      text = events.pop() ?? '';
      for (const event of events) {
        const data = event.split(/\r?\n/).flatMap((line) => /^data: ?(.*)$/.exec(line)?.[1] ?? []);
        if (data.length > 0) yield data.join('\n');
      }
    }
  } finally {
    // Whoever stops early leaves no connection open; a stream that broke off rejects.
    await reader.cancel().catch(() => {});
  }
}
