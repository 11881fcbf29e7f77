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
