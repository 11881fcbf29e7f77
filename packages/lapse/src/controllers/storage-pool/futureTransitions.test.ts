import { millis } from '@lapse/base/instant';
import { expect, test } from 'vitest';
import { isNodeReadyOrWithinGrace } from './decide.ts';
import { FutureTransitions } from './futureTransitions.ts';
import { at, GRACE, type NodeParts, node } from './pool.testkit.ts';

const M = 60_000;
const ahead: NodeParts = { ready: 'False', since: 60 * M };

/** The end of the grace period of node n, evaluated at these minutes. */
function endsOf(...steps: readonly [minute: number, parts: NodeParts][]): (number | string)[] {
  const transitions = new FutureTransitions();
  return steps.map(([minute, parts]) => {
    const [n, now] = [node('n', parts), at(minute * M)];
    const seen = transitions.firstSeen([n], { now, elapsed: millis(minute * M) }).get('n');
    const state = isNodeReadyOrWithinGrace(n, GRACE, now, seen);
    return state.kind === 'withinGrace' ? (state.until - at(0)) / M : state.kind;
  });
}

test.each<[string, [number, NodeParts][], (number | string)[]]>([
  [
    'counts from its first observation at every evaluation',
    [
      [0, ahead],
      [2, ahead],
      [4, ahead],
      [5, ahead],
    ],
    [5, 5, 5, 'expired'],
  ],
  [
    'stays expired when the transition time arrives',
    [
      [0, ahead],
      [61, ahead],
    ],
    [5, 'expired'],
  ],
  [
    'counts a new transition anew',
    [
      [0, ahead],
      [2, { ready: 'Unknown', since: 70 * M }],
    ],
    [5, 7],
  ],
  [
    'is forgotten when the node is Ready',
    [
      [0, ahead],
      [1, { ready: 'True' }],
      [2, ahead],
    ],
    [5, 'ready', 7],
  ],
  ['does not affect a transition in the past', [[2, { ready: 'False', since: M }]], [6]],
])('a transition in the future %s', (_name, steps, expected) => {
  expect(endsOf(...steps)).toEqual(expected);
});
