// Compresses a streamed response for clients that accept gzip.

import { createGzip, type Gzip } from 'node:zlib';

/** Whether an Accept-Encoding header allows gzip. `gzip;q=0` does not. */
export function acceptsGzip(header: string): boolean {
  const weights = new Map(
    header.split(',').map((part) => {
      const [coding = '', ...parameters] = part.toLowerCase().replaceAll(' ', '').split(';');
      const q = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
      return [coding, q === undefined ? 1 : Number(q)];
    }),
  );
  return (weights.get('gzip') ?? weights.get('*') ?? 0) > 0;
}

/** Prefers speed over size, because the network is close. If the source fails, this fails without a gzip trailer. */
export async function* gzipStream(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const zip = createGzip({ level: 1 });
  const feeding = feed(source, zip).catch((cause: Error) => void zip.destroy(cause));
  try {
    yield* zip as AsyncIterable<Uint8Array>;
  } finally {
    zip.destroy();
  }
  await feeding;
}

async function feed(source: AsyncIterable<Uint8Array>, zip: Gzip): Promise<void> {
  for await (const part of source) {
    if (zip.destroyed) return;
    if (!zip.write(part)) await new Promise((resolve) => zip.once('drain', resolve).once('close', resolve));
  }
  zip.end();
}
