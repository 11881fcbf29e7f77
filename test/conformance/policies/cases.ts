// Policies, and the writes they are tested with: one row per rule.

import type { PolicyCase } from './builders.ts';
import { COST_CASES } from './costCases.ts';
import { DECISION_CASES } from './decisionCases.ts';
import { EXPRESSION_CASES } from './expressionCases.ts';
import { MATCH_CASES } from './matchCases.ts';
import { PARAM_CASES } from './paramCases.ts';
import { REFUSED_CASES } from './refusedCases.ts';

export const CASES: readonly PolicyCase[] = [
  ...DECISION_CASES,
  ...MATCH_CASES,
  ...EXPRESSION_CASES,
  ...PARAM_CASES,
  ...COST_CASES,
  ...REFUSED_CASES,
];
