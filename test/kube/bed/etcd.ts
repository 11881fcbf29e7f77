// Direct requests of the bed to etcd, through its JSON gateway.

interface RangeAnswer {
  header: { revision: string };
}

async function post(url: string, body: unknown): Promise<unknown> {
  const answer = await fetch(url, { method: 'POST', body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`etcd ${url}: ${answer.status} ${await answer.text()}`);
  return answer.json();
}

const base64 = (text: string) => Buffer.from(text).toString('base64');

/**
 * Compacts all history before this moment, as the API server makes etcd do every five minutes. Like the API server it
 * also writes the revision to the key that makes API servers drop their cached snapshots, which happens soon after.
 */
export async function compactEtcd(url: string): Promise<void> {
  const { header } = (await post(`${url}/v3/kv/range`, { key: base64('compact_rev_key') })) as RangeAnswer;
  await post(`${url}/v3/kv/put`, { key: base64('compact_rev_key'), value: base64(header.revision) });
  await post(`${url}/v3/kv/compaction`, { revision: header.revision, physical: true });
}

/** The maximum number of operations in one etcd transaction. */
const PER_TRANSACTION = 128;
const AT_ONCE = 4;

/** Writes objects directly to the storage of the API server, without validation: for very many of them at once. */
export async function putEtcd(
  url: string,
  count: number,
  entry: (i: number) => { readonly key: string; readonly value: string },
): Promise<void> {
  let next = 0;
  const lane = async () => {
    for (let from = next; from < count; from = next) {
      const to = Math.min(count, from + PER_TRANSACTION);
      next = to;
      const success = Array.from({ length: to - from }, (_, i) => {
        const { key, value } = entry(from + i);
        return { requestPut: { key: base64(key), value: base64(value) } };
      });
      await post(`${url}/v3/kv/txn`, { success });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
}
