// Requests with the recorded responses of kube-apiserver 1.36 (fixtures/*.json). recorded.test.ts compares the
// embedded server with them, recorded.kube.ts kube-apiserver itself, and record.testkit.ts records them again. `{ns}`
// in paths and bodies is a unique name; a namespace of that name exists.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { HttpRequest, HttpResponse } from '@lapse/kube/api/http';
import { isObject, type Json, type JsonObject } from '@lapse/kube/api/json';

export interface Step {
  readonly method: string;
  readonly path: string;
  readonly body?: Json;
  /** Default: application/json, or a merge patch for PATCH. */
  readonly type?: string;
  readonly status: number;
  readonly warning?: string;
  readonly answer: Json;
}

export interface Probe {
  readonly name: string;
  readonly steps: readonly Step[];
}

export type Send = (request: HttpRequest) => Promise<HttpResponse>;

const FOLDER = join(import.meta.dirname, 'fixtures');

export const families = (): string[] =>
  readdirSync(FOLDER)
    .filter((file) => file.endsWith('.json'))
    .map((file) => file.replace(/\.json$/, ''))
    .sort();

export const loadFamily = (family: string): Probe[] =>
  JSON.parse(readFileSync(join(FOLDER, `${family}.json`), 'utf8')) as Probe[];

/** One probe per line: a change of one response is a change of one line. */
export function saveFamily(family: string, probes: readonly Probe[]): void {
  const lines = probes.map((probe) => JSON.stringify(probe));
  writeFileSync(join(FOLDER, `${family}.json`), `[\n${lines.join(',\n')}\n]\n`);
}

export interface ProbeClient {
  readonly send: Send;
  readonly token: string;
}

/** Sends the requests of a probe; returns the responses as new steps. */
export async function play({ send, token }: ProbeClient, probe: Probe, space: string): Promise<Step[]> {
  const ask = (method: string, path: string, body?: Json, type?: string) => {
    const content = type ?? (method === 'PATCH' ? 'application/merge-patch+json' : 'application/json');
    const headers = {
      accept: 'application/json',
      'user-agent': 'probe/1',
      authorization: `Bearer ${token}`,
    };
    const request = { method, path: path.replaceAll('{ns}', space), headers };
    if (body === undefined) return send(request);
    const bytes = Buffer.from(JSON.stringify(body).replaceAll('{ns}', space));
    // Node does not add a Content-Length to the body of a DELETE.
    const described = { ...headers, 'content-type': content, 'content-length': String(bytes.length) };
    return send({ ...request, headers: described, body: bytes });
  };
  const named = (kind: string) => ({ apiVersion: 'v1', kind, metadata: { name: '{ns}' } });
  await read(await ask('POST', '/api/v1/namespaces', named('Namespace')));
  const answers: Step[] = [];
  for (const step of probe.steps) {
    const response = await ask(step.method, step.path, step.body, step.type);
    answers.push({ ...step, ...normalised(response, await read(response), space) });
  }
  // Deletes cluster-scoped objects, which the namespace does not contain.
  for (const { method, path } of probe.steps) {
    if (method !== 'POST' || path.includes('/namespaces/')) continue;
    await read(await ask('DELETE', `${path}/{ns}`, { propagationPolicy: 'Background' }));
    await read(await ask('PATCH', `${path}/{ns}`, { metadata: { finalizers: null } }));
  }
  return answers;
}

async function read(response: HttpResponse): Promise<string> {
  if (response.body instanceof Uint8Array) return Buffer.from(response.body).toString();
  const chunks: Uint8Array[] = [];
  for await (const chunk of response.body ?? []) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

function normalised(response: HttpResponse, body: string, space: string) {
  const warning = [response.headers['warning'] ?? []].flat().join(', ').replaceAll(space, '{ns}');
  const text = masked(body.replaceAll(space, '{ns}'));
  const answer = text.startsWith('{') ? tidy(JSON.parse(text) as Json) : text;
  return {
    status: response.status,
    ...(warning === '' ? {} : { warning }),
    answer: isObject(answer) ? withSortedCauses(answer) : answer,
  };
}

const masked = (text: string): string =>
  text
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<uid>')
    .replace(/20(2[5-9]|[3-9]\d)-\d\d-\d\dT[0-9:.]+Z/g, '<time>')
    .replace(/"resourceVersion":"\d+"/g, '"resourceVersion":"<version>"')
    .replace(/(bad_|Bad\.|gen-)[bcdfghjklmnpqrstvwxz2456789]{5}/g, '$1<suffix>')
    .replace(/(ResourceVersion in record )\(\d+\)/g, '$1(<version>)')
    .replace(/10\.0\.0\.\d+(?!\/)/g, '<ip>')
    .replace(/("(?:nodePort|healthCheckNodePort)":)3\d{4}/g, '$1"<port>"');

/** Removes managedFields, which have their own tests, and sorts keys. */
function tidy(value: Json): Json {
  if (Array.isArray(value)) return value.map(tidy);
  if (!isObject(value)) return value;
  const keys = Object.keys(value).filter((key) => key !== 'managedFields');
  return Object.fromEntries(keys.sort().map((key) => [key, tidy(value[key]!)]));
}

/** Where kube-apiserver iterates over a map, the order of causes is random. */
function withSortedCauses(answer: JsonObject): JsonObject {
  const details = answer['details'];
  const causes = isObject(details) ? details['causes'] : undefined;
  if (!isObject(details) || !Array.isArray(causes) || causes.length < 2) return answer;
  const sorted = [...causes].sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  const message = String(answer['message']).replace(/ is invalid: [\s\S]*/, ' is invalid');
  return { ...answer, message, details: { ...details, causes: sorted } };
}

/** Removes internal Go structs and their diffs, whose field names the embedded server does not know. */
export const softened = (steps: readonly Step[]): Json =>
  JSON.parse(JSON.stringify(steps), (_, value) =>
    typeof value === 'string'
      ? value
          .replace(/(Invalid|Unsupported) value: [{[].*?[}\]]: /gs, '$1 value: {…}: ')
          .replace(/Duplicate value: {[^}]*}/g, 'Duplicate value: {…}')
          .replace(/\n@@[\s\S]*/g, '\n<diff>')
      : value,
  ) as Json;
