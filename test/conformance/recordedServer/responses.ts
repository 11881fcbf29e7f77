// Answers that match an expectation exactly: placeholders get matching values, absent fields are left out. The mutation
// test changes one value in them and expects the replayer to fail.

import { isObject, type Json, type JsonObject, setOwn } from '@lapse/kube/api/json';
import { fillText, PLACEHOLDER } from '../replay/templates.ts';
import type { Expectation, Step, Vars } from '../replay/types.ts';

export interface FakeResponse {
  status: number;
  headers: Record<string, Json>;
  body: Json | undefined;
  events: { type: string; object: Json }[] | undefined;
  closes: boolean;
}

const SAMPLES: Readonly<Record<string, Json>> = {
  any: 'anything',
  'any:int': 1,
  'any:number': 1.5,
  'any:list': [],
  'any:object': {},
  'any:uid': '0a1b2c3d-0000-4000-8000-0123456789ab',
  'any:rv': '4711',
  'any:time': '2031-02-03T04:05:06Z',
  'any:name': 'some-name',
  'any:suffix': 'x7z2q',
  'any:token': 'eyJ2IjoxfQ',
  'any:age': '5m',
  'any:hash': '0123ABCD',
  'any:word': 'word',
  'any:string': 'some text',
};

const isLacking = (value: Json | undefined) =>
  value === '{{absent}}' || (isObject(value) && Object.hasOwn(value, '$lacks'));

/** A matching value; undefined if the value must be absent. */
export function synthesise(expected: Json, vars: Vars): Json | undefined {
  if (typeof expected === 'string') return synthesiseText(expected, vars);
  if (Array.isArray(expected)) return expected.map((e) => synthesise(e, vars) ?? null);
  if (!isObject(expected)) return expected;
  if (isLacking(expected)) return undefined;
  if (Array.isArray(expected.$contains)) return synthesise(expected.$contains, vars);
  const out: JsonObject = {};
  for (const [key, value] of Object.entries(expected)) {
    if (value !== undefined && !isLacking(value)) setOwn(out, fillText(key, vars), synthesise(value, vars));
  }
  return out;
}

function synthesiseText(expected: string, vars: Vars): Json | undefined {
  if (expected === '{{absent}}') return undefined;
  const whole = /^\{\{([^{}]+)\}\}$/.exec(expected)?.[1];
  if (whole !== undefined && Object.hasOwn(SAMPLES, whole)) return SAMPLES[whole]!;
  if (whole?.startsWith('gt:')) return String(BigInt(vars[whole.slice(3)] ?? '0') + 1n);
  if (whole?.startsWith('not:')) return `${vars[whole.slice(4)]}1`;
  return fillText(expected, vars).replace(PLACEHOLDER, (token, name: string) =>
    String(SAMPLES[name] ?? token),
  );
}

/** The answer of a server that behaves as recorded. */
export function responseTo(step: Step, vars: Vars): FakeResponse {
  const expect: Expectation = step.expect ?? {};
  const poll = 'poll' in step.do ? step.do.poll : undefined;
  const body = overlay(overlay(poll?.match, expect.match), expect.body);
  const answer: FakeResponse = {
    status: expect.status ?? poll?.status ?? 200,
    headers: { 'content-type': 'application/json' },
    body: body === undefined ? undefined : synthesise(body, vars),
    events: expect.events?.map((e) => ({ type: e.type, object: synthesise(e.match ?? {}, vars) ?? null })),
    closes: expect.closedBy === 'server',
  };
  for (const [name, value] of Object.entries(expect.headers ?? {})) {
    const header = synthesise(value, vars);
    if (header !== undefined) answer.headers[name.toLowerCase()] = header;
  }
  provideCaptures(step, answer, vars);
  return answer;
}

/** The upper expectation, with the lower one for everything it leaves open. */
function overlay(lower: Json | undefined, upper: Json | undefined): Json | undefined {
  if (upper === undefined) return lower;
  if (!isObject(upper) || !isObject(lower) || '$contains' in upper) return upper;
  const out: JsonObject = { ...lower };
  for (const [key, value] of Object.entries(upper)) setOwn(out, key, overlay(lower[key], value));
  return out;
}

let serial = 5000;

/** Sets a value where the step captures one, unless the expectation already did, and stores it as the runner does. */
function provideCaptures(step: Step, answer: FakeResponse, vars: Vars): void {
  for (const [name, path] of Object.entries(step.capture ?? {})) {
    if (path.startsWith('header:')) {
      answer.headers[path.slice('header:'.length)] ??= freshValue(path);
      vars[name] = String(answer.headers[path.slice('header:'.length)]);
      continue;
    }
    const keys = path.split('.');
    const root = answer.events === undefined ? { body: answer.body ?? {} } : { events: answer.events };
    vars[name] = String(
      provide(root as JsonObject, answer.events === undefined ? ['body', ...keys] : keys, path),
    );
    if ('body' in root) answer.body = root.body;
  }
}

function provide(root: JsonObject, keys: string[], path: string): Json {
  let at: JsonObject = root;
  for (const key of keys.slice(0, -1)) {
    if (at[key] === undefined) setOwn(at, key, {});
    at = at[key] as JsonObject;
  }
  const last = keys.at(-1)!;
  if (at[last] === undefined) at[last] = freshValue(path);
  return at[last]!;
}

function freshValue(path: string): string {
  if (path.endsWith('uid')) return `00000000-0000-4000-8000-${String(++serial).padStart(12, '0')}`;
  if (path.endsWith('Timestamp')) return '2031-02-03T04:05:06Z';
  return String(++serial);
}
