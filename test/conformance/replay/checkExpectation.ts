// Compares an answer with an expectation: status, headers, body, events, and which side closed.

import { isObject, type Json } from '@lapse/kube/api/json';
import { diff, show } from './compare.ts';
import { fill } from './templates.ts';
import type { Expectation, ExpectedEvent, Vars, WatchedEvent, WireResponse } from './types.ts';

type Check = (expect: Expectation, answer: WireResponse, vars: Vars) => string | undefined;

const CHECKS: readonly Check[] = [
  checkStatus,
  checkHeaders,
  checkWarning,
  checkBody,
  checkEvents,
  checkClosedBy,
];

/** The first difference as a message, or undefined. */
export function checkExpectation(expect: Expectation, answer: WireResponse, vars: Vars): string | undefined {
  for (const check of CHECKS) {
    const found = check(expect, answer, vars);
    if (found !== undefined) return found;
  }
  return undefined;
}

function checkStatus(expect: Expectation, answer: WireResponse): string | undefined {
  if (expect.status === undefined || answer.status === expect.status) return undefined;
  const message = isObject(answer.body) && answer.body.message ? ` (${show(answer.body.message)})` : '';
  return `status: expected ${expect.status}, got ${answer.status}${message}`;
}

function checkHeaders(expect: Expectation, answer: WireResponse, vars: Vars): string | undefined {
  for (const [name, value] of Object.entries(expect.headers ?? {})) {
    const found = diff(value, answer.headers[name.toLowerCase()], {
      vars,
      subset: false,
      path: `header ${name}`,
    });
    if (found !== undefined) return found;
  }
  return undefined;
}

/** An unexpected warning is a difference, although other headers are compared only if listed. */
function checkWarning(expect: Expectation, answer: WireResponse): string | undefined {
  const expected = expect.headers?.warning ?? '{{absent}}';
  if (expected !== '{{absent}}' || expect.anyWarning || answer.headers.warning === undefined)
    return undefined;
  return `header warning: unexpected, got ${show(answer.headers.warning)}`;
}

function checkBody(expect: Expectation, answer: WireResponse, vars: Vars): string | undefined {
  const whole = (expected: Json) => diff(expected, answer.body, { vars, subset: false, path: 'body' });
  const part = (expected: Json) => diff(expected, answer.body, { vars, subset: true, path: 'body' });
  return (
    (expect.body === undefined ? undefined : whole(expect.body)) ??
    (expect.match === undefined ? undefined : part(expect.match))
  );
}

function checkEvents(expect: Expectation, answer: WireResponse, vars: Vars): string | undefined {
  if (expect.events === undefined) return undefined;
  if (answer.events === undefined)
    return `status: expected a watch, got ${answer.status} ${show(answer.body)}`;
  const count = Math.max(expect.events.length, answer.events.length);
  for (let i = 0; i < count; i++) {
    const found = checkEvent(expect.events[i], answer.events[i], { vars, path: `events[${i}]` });
    if (found !== undefined) return found;
  }
  return undefined;
}

function checkEvent(
  expected: ExpectedEvent | undefined,
  actual: WatchedEvent | undefined,
  { vars, path }: { vars: Vars; path: string },
): string | undefined {
  if (expected === undefined) return `${path}: unexpected ${actual?.type} ${show(actual?.object)}`;
  if (actual === undefined)
    return `${path}: expected ${expected.type} ${show(fill(expected.match ?? '', vars))}, got nothing more`;
  if (expected.type !== actual.type)
    return `${path}.type: expected ${expected.type}, got ${actual.type} ${show(actual.object)}`;
  return diff(expected.match ?? {}, actual.object, { vars, subset: true, path: `${path}.object` });
}

function checkClosedBy(expect: Expectation, answer: WireResponse): string | undefined {
  if (expect.closedBy === undefined || expect.closedBy === answer.closedBy) return undefined;
  return `expected the watch to be closed by the ${expect.closedBy}, it was closed by the ${answer.closedBy}`;
}
