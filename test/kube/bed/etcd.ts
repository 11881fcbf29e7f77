// What the bed asks etcd directly, through its JSON gateway.

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
 * Forgets all history before this moment, as the API server itself makes etcd do every five minutes. Like that one it
 * also writes the revision to the key by which API servers learn to drop their cached snapshots; they follow soon.
 */
export async function compactEtcd(url: string): Promise<void> {
  const { header } = (await post(`${url}/v3/kv/range`, { key: base64('compact_rev_key') })) as RangeAnswer;
  await post(`${url}/v3/kv/put`, { key: base64('compact_rev_key'), value: base64(header.revision) });
  await post(`${url}/v3/kv/compaction`, { revision: header.revision, physical: true });
}

/** As many operations as etcd takes in one transaction. */
const PER_TRANSACTION = 128;
const AT_ONCE = 4;

/** Puts values where the API server finds its objects, past its validation: for very many of them at once. */
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
