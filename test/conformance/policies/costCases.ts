// Expressions that cost too much: alone, together, in messages and in conditions.

import { create } from '../webhooks/builders.ts';
import { annotations, condition, failing, type PolicyCase, policy, variables } from './builders.ts';

const TEN = '[0,1,2,3,4,5,6,7,8,9]';
/** Nested loops of ten steps each. Six levels exceed the cost limit of one expression. */
const loops = (depth: number, inner = 'true'): string => {
  let body = inner;
  for (let i = depth; i > 0; i--) body = `${TEN}.all(i${i}, ${body})`;
  return body;
};
const FIRST = [create('a')];
/** Costs 300,000, but takes little time: a search in a string is charged by its length. */
const DEAR = loops(3, `!"${'x'.repeat(3000)}".contains("z")`);
const many = (n: number): string[] => Array.from({ length: n }, (_, i) => `${DEAR} || ${i} == 0`);
/** Variables v0, v1 and so on. */
const dearVariables = (n: number) => variables(Object.fromEntries(many(n).map((text, i) => [`v${i}`, text])));

export const COST_CASES: readonly PolicyCase[] = [
  { name: 'an expression over its limit', policies: [policy([loops(6)])], writes: FIRST },
  {
    name: 'an expression over its limit is ignored with failurePolicy Ignore',
    policies: [policy([loops(6)], { failurePolicy: 'Ignore' })],
    writes: FIRST,
  },
  { name: 'expressions over their budget', policies: [policy(many(40))], writes: FIRST },
  {
    name: 'expressions over their budget are ignored with failurePolicy Ignore',
    policies: [policy([...many(40), 'false'], { failurePolicy: 'Ignore' })],
    writes: FIRST,
  },
  { name: 'a few dear expressions', policies: [policy(many(4))], writes: FIRST },
  {
    name: 'messages over the budget of valid expressions',
    policies: [
      policy(many(40).map((text) => ({ expression: 'true', messageExpression: `${text} ? "x" : "y"` }))),
    ],
    writes: FIRST,
  },
  {
    name: 'conditions over their budget',
    policies: [policy(['false'], condition(...many(20)))],
    writes: FIRST,
  },
  {
    name: 'conditions over their budget may be ignored',
    policies: [policy(['false'], { ...condition(...many(20)), failurePolicy: 'Ignore' })],
    writes: FIRST,
  },
  {
    name: 'a variable over its limit',
    policies: [policy(['variables.dear'], variables({ dear: loops(6) }))],
    writes: FIRST,
  },
  {
    name: 'a dear variable is computed once',
    policies: [
      policy(
        Array.from({ length: 40 }, (_, i) => `variables.dear || ${i} == 0`),
        variables({ dear: DEAR }),
      ),
    ],
    writes: FIRST,
  },
  {
    name: 'variables over the budget',
    policies: [
      policy(
        Array.from({ length: 40 }, (_, i) => `variables.v${i}`),
        dearVariables(40),
      ),
    ],
    writes: FIRST,
  },
  {
    name: 'audit annotations over their budget',
    policies: [
      policy([failing({ message: 'replaced' })], {
        ...dearVariables(40),
        ...annotations(
          Object.fromEntries(
            Array.from({ length: 20 }, (_, k) => [
              `a${k}`,
              `variables.v${2 * k} && variables.v${2 * k + 1} ? "x" : "y"`,
            ]),
          ),
        ),
      }),
    ],
    writes: FIRST,
  },
];
