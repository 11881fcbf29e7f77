// The table of HorizontalPodAutoscalers.

import type { Json, JsonObject } from '@lapse/kube/api/json';
import { toV2 } from '../strategies/autoscaling/forms.ts';
import { ageOf, at, get, int, NONE, nameOf, objects, quantity, text, UNKNOWN, UNSET } from './cells.ts';
import type { Cells } from './printer.ts';

const autoscalerCells: Cells = (object, now) => {
  const hpa = object.apiVersion === 'autoscaling/v1' ? toV2(object) : object;
  const min = get(hpa, 'spec', 'minReplicas');
  return [
    nameOf(hpa),
    `${text(get(hpa, 'spec', 'scaleTargetRef', 'kind'))}/${text(get(hpa, 'spec', 'scaleTargetRef', 'name'))}`,
    metricsText(objects(get(hpa, 'spec', 'metrics')), objects(get(hpa, 'status', 'currentMetrics'))),
    min === undefined ? UNSET : String(int(min)),
    int(get(hpa, 'spec', 'maxReplicas')),
    int(get(hpa, 'status', 'currentReplicas')),
    ageOf(hpa, now),
  ];
};

const SHOWN = 2;

function metricsText(specs: JsonObject[], statuses: JsonObject[]): string {
  if (specs.length === 0) return NONE;
  const shown = specs.slice(0, SHOWN).map((spec, i) => metricText(spec, statuses[i]));
  const more = specs.length > SHOWN ? ` + ${specs.length - SHOWN} more...` : '';
  return shown.join(', ') + more;
}

function metricText(spec: JsonObject, status: JsonObject | undefined): string {
  switch (spec['type']) {
    case 'External':
      return totalText(at(spec, 'external'), at(status, 'external'));
    case 'Object':
      return totalText(at(spec, 'object'), at(status, 'object'));
    case 'Pods': {
      const current = at(status, 'pods') ? quantity(at(status, 'pods', 'current', 'averageValue')) : UNKNOWN;
      return `${current}/${quantity(at(spec, 'pods', 'target', 'averageValue'))}`;
    }
    case 'Resource':
      return resourceText(at(spec, 'resource'), at(status, 'resource'));
    case 'ContainerResource':
      return resourceText(at(spec, 'containerResource'), at(status, 'containerResource'));
    default:
      return '<unknown type>';
  }
}

type Value = Json | undefined;

function totalText(spec: Value, status: Value): string {
  const average = at(spec, 'target', 'averageValue');
  const current = (field: string) => at(status, 'current', field);
  if (average !== undefined) {
    const now = current('averageValue');
    return `${now === undefined ? UNKNOWN : quantity(now)}/${quantity(average)} (avg)`;
  }
  return `${status ? quantity(current('value')) : UNKNOWN}/${quantity(at(spec, 'target', 'value'))}`;
}

function resourceText(spec: Value, status: Value): string {
  const name = text(at(spec, 'name'));
  const average = at(spec, 'target', 'averageValue');
  if (average !== undefined) {
    const current = status ? quantity(at(status, 'current', 'averageValue')) : UNKNOWN;
    return `${name}: ${current}/${quantity(average)}`;
  }
  const percent = (value: Value, absent: string) => (value === undefined ? absent : `${int(value)}%`);
  const current = percent(at(status, 'current', 'averageUtilization'), UNKNOWN);
  return `${name}: ${current}/${percent(at(spec, 'target', 'averageUtilization'), '<auto>')}`;
}

export const AUTOSCALING: Readonly<Record<string, Cells>> = {
  'horizontalpodautoscalers.autoscaling': autoscalerCells,
};
