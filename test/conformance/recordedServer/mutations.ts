// Every single value of a recorded answer that can be wrong, as a change to a matching answer. Only values that the
// expectation determines are listed: each change must make the replayer fail at exactly that step.

import type { Json } from '@lapse/kube/api/json';
import type { ExpectedEvent, Step, WireCase } from '../replay/types.ts';
import { type Change, changesOf } from './changes.ts';
import type { FakeResponse } from './responses.ts';
import type { ResponseMutation } from './target.ts';

export interface Mutation extends ResponseMutation {
  /** How the message of the replayer must begin. */
  readonly where: string;
  readonly what: string;
}

export function mutationsOf(wireCase: WireCase): Mutation[] {
  return placed(wireCase.steps, 'step').flatMap(({ step, where }) =>
    responseMutationsOf(step).map(({ what, mutate }) => ({ step, where, what, mutate })),
  );
}

function placed(steps: readonly Step[], prefix: string): { step: Step; where: string }[] {
  return steps.flatMap((step, i) => {
    const where = `${prefix} ${i + 1}`;
    const inner = 'watch' in step.do ? placed(step.do.while ?? [], `${where}, while watching, step`) : [];
    return [{ step, where }, ...inner];
  });
}

type Named = Pick<Mutation, 'what' | 'mutate'>;

const responseMutationsOf = (step: Step): Named[] => [
  ...ofStatus(step),
  ...ofHeaders(step),
  ...ofBody(step),
  ...ofEvents(step),
  ...ofClosing(step),
];

function ofStatus({ expect }: Step): Named[] {
  if (expect?.status === undefined) return [];
  const other = expect.status === 418 ? 419 : 418;
  return [
    {
      what: 'status',
      mutate: (a) => {
        a.status = other;
      },
    },
  ];
}

function ofHeaders({ expect }: Step): Named[] {
  if (expect === undefined) return [];
  const listed = Object.entries(expect.headers ?? {}).flatMap(([name, value]) =>
    changesOf(value, { exact: true, path: [name.toLowerCase()] }).map((change) => ({
      what: `header ${name} ${change.what}`,
      mutate: (a: FakeResponse) => change.apply(a.headers),
    })),
  );
  if (expect.headers?.warning !== undefined || expect.anyWarning) return listed;
  return [
    ...listed,
    {
      what: 'unexpected warning',
      mutate: (a) => {
        a.headers.warning = '299 - "careful"';
      },
    },
  ];
}

/** A text answer has no other type: anything that is sent is text again. */
const bodyChanges = (body: Json, exact: boolean): Change[] =>
  changesOf(body, { exact, path: ['body'] }).filter(
    ({ what }) => typeof body !== 'string' || !what.endsWith('other type'),
  );

const isBinary = (body: Json | undefined) => typeof body === 'string' && body.endsWith(', binary)');

function ofBody({ expect }: Step): Named[] {
  if (expect === undefined || isBinary(expect.body)) return [];
  const onBody = (change: Change): Named => ({
    what: `body ${change.what}`,
    mutate: (a) => {
      const root = { body: a.body };
      change.apply(root);
      a.body = root.body;
    },
  });
  const whole = expect.body === undefined ? [] : bodyChanges(expect.body, true);
  const part = expect.match === undefined ? [] : bodyChanges(expect.match, false);
  return [...whole, ...part].map(onBody);
}

function ofEvents({ expect, do: action }: Step): Named[] {
  const events = expect?.events;
  if (events === undefined) return [];
  const limited = 'until' in action && action.until !== undefined;
  return [
    ...events.flatMap(ofEvent),
    ...events.slice(1).flatMap((event, i) => ofOrder(events[i]!, event, i)),
    ...(events.length === 0
      ? []
      : [{ what: 'last event missing', mutate: (a: FakeResponse) => void a.events?.pop() }]),
    ...(limited ? [] : [extraEvent]),
  ];
}

const extraEvent: Named = {
  what: 'extra event',
  mutate: (a) => void a.events?.push({ type: 'MODIFIED', object: { metadata: { name: 'extra' } } }),
};

function ofEvent(event: ExpectedEvent, i: number): Named[] {
  const inObject = changesOf(event.match ?? {}, { exact: false, path: ['object'] });
  return [
    {
      what: `events[${i}] type`,
      mutate: (a) => {
        a.events![i]!.type = 'CHANGED';
      },
    },
    ...inObject.map((change) => ({
      what: `events[${i}] ${change.what}`,
      mutate: (a: FakeResponse) => change.apply(a.events![i]! as unknown as Record<string, Json>),
    })),
  ];
}

/** Swapping is an error only if the two differ. */
function ofOrder(first: ExpectedEvent, second: ExpectedEvent, i: number): Named[] {
  const name = (e: ExpectedEvent) =>
    (e.match as { metadata?: { name?: string } } | undefined)?.metadata?.name;
  const apart =
    first.type !== second.type ||
    (isPlain(name(first)) && isPlain(name(second)) && name(first) !== name(second));
  if (!apart) return [];
  const swap = (a: FakeResponse) => {
    const [one, two] = [a.events![i]!, a.events![i + 1]!];
    a.events!.splice(i, 2, two, one);
  };
  return [{ what: `events[${i}] and [${i + 1}] swapped`, mutate: swap }];
}

const isPlain = (text: string | undefined) => text !== undefined && !text.includes('{{');

function ofClosing({ expect }: Step): Named[] {
  if (expect?.closedBy === undefined) return [];
  return [
    {
      what: 'closed by the other side',
      mutate: (a) => {
        a.closes = !a.closes;
      },
    },
  ];
}
