// Runs a sequence on both servers in lockstep and returns the first difference.

import { isObject, type JsonObject } from '@lapse/kube/api/json';
import { sortKeys } from '@lapse/kube/api/sortKeys';
import { buildRequest, exchange } from '../replay/exchange.ts';
import type { Target, WireResponse } from '../replay/types.ts';
import { nameOf } from './bodies.ts';
import { draftOf, firstDraft } from './drafts.ts';
import { DROPPED, isIncomparable } from './exceptions.ts';
import { Normaliser, type Seen } from './normalise.ts';
import type { Draft, Memory, Step, Subject } from './types.ts';

export interface Disagreement {
  readonly subject: string;
  /** The requests up to the difference, as the first server got them. */
  readonly requests: readonly string[];
  readonly real: Seen;
  readonly embedded: Seen;
}

export interface RunResult {
  readonly space: string;
  readonly requests: string[];
  readonly answers: WireResponse[];
}

/** The state of one server in one sequence. */
class Runner implements Memory {
  readonly objects = new Map<string, JsonObject>();
  readonly versions = new Map<string, string[]>();
  continueToken: string | undefined;
  readonly #target: Target;
  readonly #subject: Subject;
  readonly #space: string;

  constructor(target: Target, subject: Subject, space: string) {
    this.#target = target;
    this.#subject = subject;
    this.#space = space;
  }

  async send(draft: Draft): Promise<WireResponse> {
    const answer = await this.ask(draft).catch(dropped);
    this.#remember(draft, answer);
    return answer;
  }

  async ask({ method, path, headers, body, raw }: Draft): Promise<WireResponse> {
    const text = raw ?? (body === undefined ? undefined : JSON.stringify(body));
    const rawBody = text?.replaceAll('{ns}', this.#space);
    const action = {
      method,
      path: path.replaceAll('{ns}', this.#space),
      headers,
      ...(rawBody === undefined ? {} : { rawBody }),
    };
    return exchange(buildRequest(action, {}, this.#target), this.#target);
  }

  #remember({ path, body }: Draft, answer: WireResponse): void {
    const object = answer.body;
    if (answer.status >= 300 || !isObject(object) || !isObject(object['metadata'])) return;
    const { metadata } = object;
    if (Array.isArray(object['items'])) this.continueToken = metadata['continue'] as string | undefined;
    if (
      object['kind'] !== this.#subject.kind ||
      path.includes('dryRun') ||
      JSON.stringify(body)?.includes('dryRun')
    )
      return;
    const given = String(metadata['name']);
    const name = ['a', 'b', 'c'].find(
      (short) => nameOf(this.#subject, short).replace('{ns}', this.#space) === given,
    );
    if (name === undefined) return;
    // In one order on both servers: which of two problems is named first depends on it.
    this.objects.set(name, sortKeys(object));
    const versions = this.versions.get(name) ?? [];
    const version = String(metadata['resourceVersion']);
    if (versions.at(-1) !== version) this.versions.set(name, [...versions, version]);
  }
}

/** Some requests make the real server panic, which closes the connection. Such an answer is not compared. */
function dropped(cause: unknown): WireResponse {
  if (!(cause instanceof Error) || !/socket hang up|ECONNRESET/.test(cause.message)) throw cause;
  return { status: DROPPED, headers: {}, body: undefined };
}

let serial = 0;

/** The answers of a server to the valid beginning and to each step, in a separate namespace. */
export async function runOn(target: Target, subject: Subject, steps: readonly Step[]): Promise<RunResult> {
  const space = `d-${process.pid.toString(36)}-${(++serial).toString(36)}`;
  const runner = new Runner(target, subject, space);
  if (!subject.cluster) await runner.ask(NAMESPACE);
  const result: RunResult = { space, requests: [], answers: [] };
  for (const step of [undefined, ...steps]) {
    const draft = step === undefined ? firstDraft(subject) : draftOf(subject, step, runner);
    result.requests.push(shown(draft));
    result.answers.push(await runner.send(draft));
  }
  return result;
}

/** The first step that was answered differently; undefined after a step that is not comparable. */
export function firstDisagreement(
  subject: Subject,
  theirs: RunResult,
  ours: RunResult,
): Disagreement | undefined {
  const [real, embedded] = [theirs, ours].map(({ space, answers }) => {
    const normaliser = new Normaliser(space, subject);
    return answers.map((answer) => normaliser.seen(answer));
  }) as [Seen[], Seen[]];
  const at = real.findIndex((answer, i) => {
    const other = embedded[i]!;
    return (
      JSON.stringify(answer) !== JSON.stringify(other) || isIncomparable(theirs.requests[i]!, answer, other)
    );
  });
  if (at < 0 || isIncomparable(theirs.requests[at]!, real[at]!, embedded[at]!)) return undefined;
  const requests = theirs.requests.slice(0, at + 1);
  return { subject: subject.name, requests, real: real[at]!, embedded: embedded[at]! };
}

const NAMESPACE: Draft = {
  method: 'POST',
  path: '/api/v1/namespaces',
  headers: { 'content-type': 'application/json' },
  body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: '{ns}' } },
};

const shown = ({ method, path, headers, body, raw }: Draft): string =>
  [method, path, JSON.stringify(headers), raw ?? (body === undefined ? '' : JSON.stringify(body))].join(' ');
