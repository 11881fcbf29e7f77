// The effect of a validation result: denials, messages, reasons, actions and failures.

import { create } from '../webhooks/builders.ts';
import { annotations, failing, type PolicyCase, policy } from './builders.ts';

const MISSING = 'object.data.missing == "x"';
const FIRST = [create('a')];

export const DECISION_CASES: readonly PolicyCase[] = [
  { name: 'allows what is valid', policies: [policy(['object.metadata.name == "a"'])], writes: FIRST },
  {
    name: 'denies with the expression when there is no message',
    policies: [policy([' object.metadata.name  != "a" '])],
    writes: [...FIRST, create('b')],
  },
  { name: 'denies with the message', policies: [policy([failing({ message: ' no way ' })])], writes: FIRST },
  {
    name: 'denies with the first failed validation',
    policies: [policy(['true', failing({ message: 'second' }), failing({ message: 'third' })])],
    writes: FIRST,
  },
  {
    name: 'denies with a computed message',
    policies: [policy([failing({ messageExpression: '"not " + object.metadata.name', message: 'static' })])],
    writes: FIRST,
  },
  ...(
    [
      ['has line breaks', '"a\\nb"'],
      ['is blank', '"  "'],
      ['is too long', `"${'x'.repeat(5 * 1024 + 1)}"`],
      ['cannot be computed', 'object.data.missing'],
    ] as const
  ).map(
    ([why, messageExpression]): PolicyCase => ({
      name: `denies with the static message when the computed one ${why}`,
      policies: [policy([failing({ messageExpression: `string(${messageExpression})`, message: 'static' })])],
      writes: FIRST,
    }),
  ),
  {
    name: 'denies with the expression when the computed message fails and there is no other',
    policies: [policy([failing({ messageExpression: 'string(object.data.missing)' })])],
    writes: FIRST,
  },
  ...['Unauthorized', 'Forbidden', 'Invalid', 'RequestEntityTooLarge'].map(
    (reason): PolicyCase => ({
      name: `denies with the reason ${reason}`,
      policies: [policy([failing({ reason })])],
      writes: FIRST,
    }),
  ),
  {
    name: 'denies when an expression fails',
    policies: [policy([{ expression: MISSING, reason: 'Forbidden', message: 'never shown' }])],
    writes: FIRST,
  },
  {
    name: 'ignores failures and not refusals with failurePolicy Ignore',
    policies: [policy([MISSING, failing({ message: 'refused' })], { failurePolicy: 'Ignore' })],
    writes: FIRST,
  },
  {
    name: 'ignores failures with failurePolicy Ignore',
    policies: [policy([MISSING], { failurePolicy: 'Ignore' })],
    writes: FIRST,
  },
  {
    name: 'warns',
    policies: [policy([failing({ message: 'mind the gap' }), 'true'], {}, { validationActions: ['Warn'] })],
    writes: FIRST,
  },
  {
    name: 'warns of failures of expressions',
    policies: [policy([MISSING], {}, { validationActions: ['Warn', 'Audit'] })],
    writes: FIRST,
  },
  {
    name: 'audits without a trace in the answer',
    policies: [policy(['false'], {}, { validationActions: ['Audit'] })],
    writes: FIRST,
  },
  {
    name: 'denies and audits',
    policies: [policy(['false'], {}, { validationActions: ['Audit', 'Deny'] })],
    writes: FIRST,
  },
  {
    name: 'denies what one binding warns of and another denies',
    policies: [
      policy(
        [failing({ message: 'twice' })],
        {},
        { validationActions: ['Warn'] },
        { validationActions: ['Deny'] },
      ),
    ],
    writes: FIRST,
  },
  {
    name: 'validates what is only a dry run',
    policies: [policy(['!request.dryRun'])],
    writes: [create('a', {}, '?dryRun=All'), create('a')],
  },
  {
    name: 'computes audit annotations',
    policies: [policy([], annotations({ one: '"x"', two: 'null', three: '""' }))],
    writes: FIRST,
  },
  {
    name: 'denies when an audit annotation cannot be computed, whatever the actions',
    policies: [
      policy([], annotations({ one: 'string(object.data.missing)' }), { validationActions: ['Audit'] }),
    ],
    writes: FIRST,
  },
  {
    name: 'ignores audit annotations that cannot be computed with failurePolicy Ignore',
    policies: [
      policy([], { ...annotations({ one: 'string(object.data.missing)' }), failurePolicy: 'Ignore' }),
    ],
    writes: FIRST,
  },
  {
    name: 'does not bind the authorizer for audit annotations',
    policies: [
      policy([], annotations({ one: 'authorizer.path("/healthz").check("get").allowed() ? "x" : "y"' })),
    ],
    writes: FIRST,
  },
  {
    name: 'applies nothing without a binding',
    policies: [{ spec: { validations: [{ expression: 'false' }] }, bindings: [] }],
    writes: FIRST,
  },
  {
    name: 'applies nothing when the policy of a binding does not exist',
    policies: [policy(['false'], {}, { policyName: 'no-such-policy' })],
    writes: FIRST,
  },
];
