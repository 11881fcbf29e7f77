// Compresses a stream of bytes.

import { createGzip, type Gzip } from 'node:zlib';

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
