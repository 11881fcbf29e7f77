// Random traffic and faults, checked against named guarantees. Once the faults stop, the cache equals the server. The
// changes that listeners receive are:
//   ordered      versions of an object only grow
//   unique       no version of an object is delivered twice
//   reliable     `before` of each change equals `after` of the previous one: nothing is lost or invented
//   resumable    without a 410 the reflector does not relist

import { minutes, seconds } from '@lapse/base/instant';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Fault } from './fakeServer.testkit.ts';
import { type ReceivedChange, reflectorKit } from './reflector.testkit.ts';

const names = fc.constantFrom('a', 'b', 'c', 'd');
const after = fc.nat(4);
const streamFault: fc.Arbitrary<Fault> = fc.oneof(
  fc.record({ kind: fc.constant('cut' as const), after }),
  fc.record({ kind: fc.constant('end' as const), after }),
  fc.record({ kind: fc.constant('silent' as const), after }),
  fc.constant({ kind: 'duplicate' as const }),
  fc.constant({ kind: 'lost' as const }),
);
const hardFault: fc.Arbitrary<Fault> = fc.oneof(
  streamFault,
  fc.record({ kind: fc.constant('garbage' as const), after }),
  fc.constant({ kind: 'hang' as const }),
  fc.constant({ kind: 'status' as const, code: 410, reason: 'Expired' }),
  fc.constant({ kind: 'status' as const, code: 429, reason: 'TooManyRequests', retryAfter: 3 }),
  fc.constant({ kind: 'status' as const, code: 500, reason: 'InternalError' }),
  fc.constant({ kind: 'status' as const, code: 403, reason: 'Forbidden' }),
  fc.constant({ kind: 'status' as const, code: 422, reason: 'Invalid' }),
  fc.constant({
    kind: 'status' as const,
    code: 504,
    reason: 'Timeout',
    message: 'Too large resource version',
  }),
);

type Command =
  | { do: 'put' | 'delete'; name: string }
  | { do: 'compact' | 'bookmark' | 'endWatches' }
  | { do: 'inject'; fault: Fault }
  | { do: 'pass'; length: number };

const commandsOf = (fault: fc.Arbitrary<Fault>, compaction: boolean): fc.Arbitrary<Command[]> =>
  fc.array(
    fc.oneof(
      { weight: 6, arbitrary: fc.record({ do: fc.constant('put' as const), name: names }) },
      { weight: 3, arbitrary: fc.record({ do: fc.constant('delete' as const), name: names }) },
      { weight: 3, arbitrary: fc.record({ do: fc.constant('inject' as const), fault }) },
      { weight: 2, arbitrary: fc.constant({ do: 'endWatches' as const }) },
      { weight: 1, arbitrary: fc.constant({ do: 'bookmark' as const }) },
      { weight: compaction ? 2 : 0, arbitrary: fc.constant({ do: 'compact' as const }) },
      {
        weight: 4,
        arbitrary: fc.record({ do: fc.constant('pass' as const), length: fc.integer({ min: 1, max: 5000 }) }),
      },
    ),
    { minLength: 5, maxLength: 60 },
  );

interface History {
  readonly changes: readonly ReceivedChange[];
  readonly requests: readonly string[];
  readonly contents: readonly string[];
  readonly serverContents: readonly string[];
  readonly relists: number;
}

async function run(
  commands: readonly Command[],
  options: { listBy: 'stream' | 'pages'; seed: number },
): Promise<History> {
  const liveness = { endAfter: [minutes(5), minutes(10)], silence: seconds(60) } as const;
  const kit = reflectorKit({ ...options, liveness });
  kit.server.put('a');
  kit.server.put('b');
  const handle = kit.acquire();
  for (const c of commands) {
    if (c.do === 'pass') await kit.pass(c.length);
    else if (c.do === 'put' || c.do === 'delete') kit.server[c.do](c.name);
    else if (c.do === 'inject') kit.server.inject(c.fault);
    else kit.server[c.do]();
    await kit.settle();
  }
  kit.server.heal();
  await kit.pass(10 * 60_000);
  const relists = kit.server.requests.filter((r) => !r.includes('resourceVersion=')).length;
  const history = {
    changes: kit.changes,
    requests: kit.server.requests,
    contents: kit.contents(handle),
    serverContents: kit.serverContents(),
    relists,
  };
  handle.release();
  return history;
}

function checkGuarantees({ changes, contents, serverContents }: History): void {
  const last = new Map<string, string | undefined>();
  const seen = new Set<string>();
  let problem = '';
  for (const { name, before, after } of changes) {
    if (before !== last.get(name))
      problem ||= `reliable: ${name} was ${last.get(name)}, the next change starts from ${before}`;
    if (after !== undefined && before !== undefined && Number(after) <= Number(before))
      problem ||= `ordered: ${name} ${before} → ${after}`;
    if (after !== undefined && seen.has(`${name}@${after}`)) problem ||= `unique: ${name}@${after}`;
    seen.add(`${name}@${after}`);
    last.set(name, after);
  }
  expect(problem).toBe('');
  expect(contents).toEqual(serverContents);
}

describe.each(['stream', 'pages'] as const)('listing by %s', (listBy) => {
  test('delivers ordered, unique and reliable changes under random traffic and faults, and the cache converges', async () => {
    await fc.assert(
      fc.asyncProperty(commandsOf(hardFault, true), fc.nat(1000), async (commands, seed) => {
        checkGuarantees(await run(commands, { listBy, seed }));
      }),
      { numRuns: 60 },
    );
  });

  test('resumes broken connections without a relist', async () => {
    await fc.assert(
      fc.asyncProperty(commandsOf(streamFault, false), async (commands) => {
        // The first request is the list. Faults start after it.
        const history = await run([{ do: 'pass', length: 1 }, ...commands], { listBy, seed: 1 });
        checkGuarantees(history);
        expect(history.relists).toBe(1);
      }),
      { numRuns: 40 },
    );
  });

  test('sends the same requests for the same seed', async () => {
    await fc.assert(
      fc.asyncProperty(commandsOf(hardFault, true), fc.nat(1000), async (commands, seed) => {
        expect(await run(commands, { listBy, seed })).toEqual(await run(commands, { listBy, seed }));
      }),
      { numRuns: 15 },
    );
  });
});
