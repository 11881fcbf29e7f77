// A target that answers each request of one case as recorded, except for one step that a test may change.

import { gzipSync } from 'node:zlib';
import type { HttpRequest, HttpResponse } from '@lapse/kube/api/http';
import { needsNamespace } from '../replay/runCase.ts';
import type { Step, Target, Vars, WireCase } from '../replay/types.ts';
import { type FakeResponse, responseTo } from './responses.ts';

/** Changes the answer to one step, the same way each time. */
export interface ResponseMutation {
  readonly step: Step;
  readonly mutate: (answer: FakeResponse) => void;
}

const TOKENS = { adminToken: 'admin-token', nobodyToken: 'nobody-token' };

export function recordedTarget(wireCase: WireCase, ns: string, mutation?: ResponseMutation): Target {
  const server = new RecordedServer(wireCase, { ns, ...TOKENS }, mutation);
  return {
    name: 'recorded',
    ...TOKENS,
    compact: async () => {},
    request: async (request) => server.answer(request),
  };
}

class RecordedServer {
  private readonly script: readonly Step[];
  private readonly vars: Vars;
  private readonly mutation: ResponseMutation | undefined;
  private next = 0;
  private namespacePending: boolean;
  /** The answer that a polling step keeps getting. */
  private stuck: HttpResponse | undefined;
  private readonly waiting: { until: number; resolve: () => void }[] = [];

  constructor(wireCase: WireCase, vars: Vars, mutation: ResponseMutation | undefined) {
    this.script = requestSteps(wireCase.steps);
    this.vars = vars;
    this.mutation = mutation;
    this.namespacePending = needsNamespace(wireCase);
  }

  answer(request: HttpRequest): HttpResponse {
    if (this.stuck !== undefined) return this.stuck;
    if (this.namespacePending) {
      this.namespacePending = false;
      return whole({ status: 201, headers: {}, body: undefined, events: undefined, closes: true });
    }
    const step = this.script[this.next++];
    // Cleanup, which is not compared.
    if (step === undefined)
      return whole({ status: 200, headers: {}, body: {}, events: undefined, closes: true });
    const response = this.respond(step, request);
    if (step === this.mutation?.step && 'poll' in step.do) this.stuck = response;
    for (const waiter of this.waiting) if (this.next >= waiter.until) waiter.resolve();
    return response;
  }

  private respond(step: Step, request: HttpRequest): HttpResponse {
    const answer = this.compose(step);
    if (!('watch' in step.do) || answer.status !== 200) return whole(answer);
    const meanwhile = requestSteps(step.do.while ?? []).length;
    return { ...headOf(answer), body: this.events(step, request, this.reached(this.next + meanwhile)) };
  }

  private compose(step: Step): FakeResponse {
    const answer = responseTo(step, this.vars);
    if (step === this.mutation?.step) this.mutation.mutate(answer);
    return answer;
  }

  private reached(index: number): Promise<void> {
    if (this.next >= index) return Promise.resolve();
    return new Promise((resolve) => this.waiting.push({ until: index, resolve }));
  }

  /** Events may contain values captured meanwhile, so they are composed after those steps were answered. */
  private async *events(
    step: Step,
    { signal }: HttpRequest,
    ready: Promise<void>,
  ): AsyncIterable<Uint8Array> {
    const gone = new Promise<void>((resolve) => {
      signal?.addEventListener('abort', () => resolve(), { once: true });
    });
    await Promise.race([ready, gone]);
    const answer = this.compose(step);
    for (const event of answer.events ?? []) yield Buffer.from(`${JSON.stringify(event)}\n`);
    if (!answer.closes) await gone;
  }
}

/** The steps that send requests, in order. */
function requestSteps(steps: readonly Step[]): Step[] {
  return steps.flatMap((step) => {
    if ('sleep' in step.do || 'compact' in step.do) return [];
    return 'watch' in step.do ? [step, ...requestSteps(step.do.while ?? [])] : [step];
  });
}

const headOf = (answer: FakeResponse) => ({
  status: answer.status,
  headers: answer.headers as Record<string, string | readonly string[]>,
});

function whole(answer: FakeResponse): HttpResponse {
  const bytes = Buffer.from(textOf(answer));
  return { ...headOf(answer), body: answer.headers['content-encoding'] === 'gzip' ? gzipSync(bytes) : bytes };
}

function textOf({ body }: FakeResponse): string {
  if (body === undefined) return '';
  return typeof body === 'string' ? body : JSON.stringify(body);
}
