// A controller of another project, written with nothing but fetch: a Namespace labelled with a team gets a ConfigMap that names it.

interface Event {
  type: string;
  object: { metadata: { name: string; labels?: Record<string, string> } };
}

/** Follows the namespaces of `server` until it is told to stop. */
export async function followTeams(server: string, signal: AbortSignal): Promise<void> {
  const { body } = await fetch(`${server}/api/v1/namespaces?watch=true`, { signal });
  let rest = '';
  try {
    for await (const text of body!.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + text).split('\n');
      rest = lines.pop()!;
      for (const line of lines) await look(server, JSON.parse(line) as Event);
    }
  } catch (cause) {
    if (!signal.aborted) throw cause;
  }
}

async function look(server: string, { type, object: { metadata } }: Event): Promise<void> {
  const team = metadata.labels?.['team'];
  if (type === 'DELETED' || team === undefined) return;
  const path = `/api/v1/namespaces/${metadata.name}/configmaps/team?fieldManager=team-config&force=true`;
  await fetch(server + path, {
    method: 'PATCH',
    headers: { 'content-type': 'application/apply-patch+yaml' },
    body: JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'team' }, data: { team } }),
  });
}
