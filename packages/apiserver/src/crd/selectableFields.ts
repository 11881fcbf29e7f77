// Field selectors of a CRD: paths to scalars, compared as strings.

import type { Json } from '@lapse/kube/api/json';
import { asJson, type KubeObject } from '@lapse/kube/api/object';
import { goPrint } from '#schema/goPrint';
import { splitPath, valueAt } from './paths.ts';

export interface SelectableFields {
  /** `spec.color` */
  readonly labels: readonly string[];
  values(object: KubeObject): Record<string, string>;
}

export function selectableFields(paths: readonly string[]): SelectableFields {
  const fields = paths.map((path) => ({ label: path.replace(/^\./, ''), steps: splitPath(path) }));
  return {
    labels: fields.map((f) => f.label),
    values: (object) =>
      Object.fromEntries(fields.map((f) => [f.label, textOf(read(object, f.steps))] as const)),
  };
}

/** Undefined when the value is missing or a parent is not an object. */
function read(object: KubeObject, steps: readonly string[]): Json | undefined {
  try {
    return valueAt(asJson(object), steps);
  } catch {
    return undefined;
  }
}

const textOf = (value: Json | undefined): string =>
  value === undefined || value === null ? '' : goPrint(value);
