// Converts a LabelSelector to the text of a query. Validates each part, so that every error names its field.

import { type FieldError, forbidden, invalid, required } from './fieldErrors.ts';
import { checkLabelValue, checkQualifiedName } from './names.ts';

interface SelectorRequirement {
  key: string;
  operator: string;
  values?: string[];
}

/** metav1.LabelSelector. */
export interface LabelSelectorSpec {
  matchLabels?: Record<string, string>;
  matchExpressions?: SelectorRequirement[];
}

/** Longer selectors do not fit into a request line that every server and proxy accepts. */
const MOST_TEXT = 4096;

export interface Selection {
  /** As in `labelSelector=`; empty: all objects. */
  readonly text: string;
  readonly errors: readonly FieldError[];
}

export function buildSelection(selector: LabelSelectorSpec | undefined, path: string): Selection {
  const errors: FieldError[] = [];
  const terms: string[] = [];
  for (const [key, value] of Object.entries(selector?.matchLabels ?? {})) {
    errors.push(...checkKey(key, `${path}.matchLabels`), ...checkValue(value, `${path}.matchLabels[${key}]`));
    terms.push(`${key}=${value}`);
  }
  (selector?.matchExpressions ?? []).forEach((requirement, i) => {
    const at = `${path}.matchExpressions[${i}]`;
    errors.push(...checkRequirement(requirement, at));
    terms.push(termOf(requirement));
  });
  const text = terms.sort().join(',');
  if (errors.length === 0 && text.length > MOST_TEXT)
    errors.push(
      forbidden(path, `it is ${text.length} characters long as a query, the limit is ${MOST_TEXT}`),
    );
  return { text, errors };
}

function checkRequirement({ key, operator, values = [] }: SelectorRequirement, path: string): FieldError[] {
  const errors = [...checkKey(key, `${path}.key`)];
  switch (operator) {
    case 'In':
    case 'NotIn':
      if (values.length === 0)
        errors.push(required(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'"));
      break;
    case 'Exists':
    case 'DoesNotExist':
      if (values.length > 0)
        errors.push(
          forbidden(`${path}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"),
        );
      break;
    default:
      errors.push(invalid(`${path}.operator`, operator, 'not a valid selector operator'));
  }
  values.forEach((value, i) => {
    errors.push(...checkValue(value, `${path}.values[${i}]`));
  });
  return errors;
}

function termOf({ key, operator, values = [] }: SelectorRequirement): string {
  switch (operator) {
    case 'In':
      return `${key} in (${[...values].sort().join(',')})`;
    case 'NotIn':
      return `${key} notin (${[...values].sort().join(',')})`;
    case 'DoesNotExist':
      return `!${key}`;
    default:
      return key;
  }
}

const checkKey = (key: string, path: string): FieldError[] =>
  checkQualifiedName(key).map((complaint) => invalid(path, key, complaint));
const checkValue = (value: string, path: string): FieldError[] =>
  checkLabelValue(value).map((complaint) => invalid(path, value, complaint));
