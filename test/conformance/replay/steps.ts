// Runs one step of a case (repeatedly, if it polls), compares the answer, and captures variables from it.

import type { Clock } from '@lapse/base/clock';
import { isDue, millis, plus } from '@lapse/base/instant';
import { isObject, type Json } from '@lapse/kube/api/json';
import { checkExpectation } from './checkExpectation.ts';
import { show } from './compare.ts';
import { buildRequest, exchange, pause } from './exchange.ts';
import { fillText } from './templates.ts';
import { dropDescriptions, tidy } from './tidy.ts';
import {
  Difference,
  type RequestAction,
  type Step,
  type Target,
  type Vars,
  type WatchAction,
  type WireResponse,
} from './types.ts';
import { watch } from './watch.ts';

export interface StepContext {
  readonly target: Target;
  readonly clock: Clock;
  readonly vars: Vars;
  readonly keepManagedFields: boolean;
  readonly dropDescriptions: boolean;
  /** Cleanup is best effort: nothing is compared. */
  readonly lenient: boolean;
}

const POLL_SECONDS = 20;
const POLL_EVERY_MS = 50;

export async function runStep(step: Step, context: StepContext, where: string): Promise<void> {
  const action = step.do;
  if ('sleep' in action) return pause(context.clock, action.sleep * 1000);
  if ('compact' in action) return context.target.compact!();
  const label = `${where}: ${labelOf(action, context.vars)}`;
  const answer = await answerOf(step, action, { context, where, label });
  const found = step.expect === undefined ? undefined : checkExpectation(step.expect, answer, context.vars);
  if (found !== undefined && !context.lenient) throw new Difference(`${label}: ${found}`);
  capture(step, answer, { context, where, label });
}

function labelOf(action: RequestAction | WatchAction, vars: Vars): string {
  if ('watch' in action) return `WATCH ${fillText(action.watch, vars)}`;
  return `${action.method} ${fillText(action.path, vars)}`;
}

interface Place {
  readonly context: StepContext;
  readonly where: string;
  readonly label: string;
}

async function answerOf(
  step: Step,
  action: RequestAction | WatchAction,
  place: Place,
): Promise<WireResponse> {
  try {
    if ('watch' in action) return clean(await watchOnce(action, place), step, place.context);
    return await pollUntilFits(step, action, place);
  } catch (e) {
    if (e instanceof Difference) throw e;
    throw new Difference(`${place.label}: ${(e as Error).message}`);
  }
}

async function pollUntilFits(
  step: Step,
  action: RequestAction,
  { context, where }: Place,
): Promise<WireResponse> {
  const { clock, target, vars } = context;
  const once = async () =>
    clean(await exchange(buildRequest(action, vars, target), target, clock), step, context);
  if (action.poll === undefined) return once();
  const deadline = plus(clock.now(), millis((action.poll.seconds ?? POLL_SECONDS) * 1000));
  for (;;) {
    const answer = await once();
    const { status, match } = action.poll;
    const wanted = {
      ...(status === undefined ? {} : { status }),
      ...(match === undefined ? {} : { match }),
      anyWarning: true,
    };
    const miss = checkExpectation(wanted, answer, vars);
    if (miss === undefined) return answer;
    if (isDue(deadline, clock.now())) throw new Difference(`${where}: never happened: ${miss}`);
    await pause(clock, POLL_EVERY_MS);
  }
}

function watchOnce(action: WatchAction, { context, where }: Place): Promise<WireResponse> {
  const { target, clock, vars } = context;
  const steps = action.while;
  const meanwhile = steps && (() => runSteps(steps, context, `${where}, while watching, step`));
  return watch({ request: buildRequest(action, vars, target), action, target, clock, meanwhile });
}

export async function runSteps(steps: readonly Step[], context: StepContext, where: string): Promise<void> {
  for (const [i, step] of steps.entries()) await runStep(step, context, `${where} ${i + 1}`);
}

/** The answer without fields that no case compares. */
function clean(answer: WireResponse, step: Step, context: StepContext): WireResponse {
  const keep = context.keepManagedFields || step.keepManagedFields === true;
  const tidied = (value: Json | undefined) => (value === undefined ? undefined : tidy(value, keep));
  const body = tidied(answer.body);
  const drop = context.dropDescriptions || step.dropDescriptions === true;
  return {
    ...answer,
    body: drop && body !== undefined ? dropDescriptions(body) : body,
    ...(answer.events ? { events: answer.events.map((e) => ({ ...e, object: tidied(e.object) })) } : {}),
  };
}

function capture(step: Step, answer: WireResponse, { context, where }: Place): void {
  for (const [name, path] of Object.entries(step.capture ?? {})) {
    const value = pluck(answer, path);
    if (value !== undefined) context.vars[name] = String(value);
    else if (!context.lenient)
      throw new Difference(`${where}: nothing to capture as ${name} at ${path} in ${show(answer.body)}`);
  }
}

/** `header:NAME`, or a dotted path into the body (into `{ events }` after a watch). */
function pluck(answer: WireResponse, path: string): Json | undefined {
  if (path.startsWith('header:')) return answer.headers[path.slice('header:'.length)];
  let value: Json | undefined =
    answer.events === undefined
      ? answer.body
      : {
          events: answer.events.map(({ type, object }) => ({
            type,
            ...(object === undefined ? {} : { object }),
          })),
        };
  for (const key of path.split('.')) {
    if (Array.isArray(value)) value = value[Number(key)];
    else value = isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  }
  return value;
}
