// Metrics of HorizontalPodAutoscalers in the forms of v2 and of v1, where they are in annotations.

import type { Json, JsonObject } from '@lapse/kube/api/json';
import { child, has, part, text, value } from '../values.ts';

/** Without absent fields. */
const given = (fields: Readonly<Record<string, Json | undefined>>): JsonObject =>
  Object.fromEntries(Object.entries(fields).filter(([, v]) => v !== undefined));

type Convert = (source: JsonObject) => JsonObject;
type Forms = Readonly<Record<string, Convert>>;

const convertWith =
  (forms: Forms) =>
  (metric: JsonObject): JsonObject => {
    const out: JsonObject = { type: text(metric, 'type') };
    for (const [field, convert] of Object.entries(forms)) {
      const source = child(metric, field);
      if (source) out[field] = convert(source);
    }
    return out;
  };

const identifier = (name: Json | undefined, selector: Json | undefined): JsonObject =>
  given({ name: name ?? '', selector });

const resourceTo: Convert = (source) => {
  const target = part(source, 'target');
  return given({
    name: value(source, 'name'),
    targetAverageUtilization: value(target, 'averageUtilization'),
    targetAverageValue: value(target, 'averageValue'),
    container: value(source, 'container'),
  });
};

const resourceFrom: Convert = (source) => ({
  ...given({ name: value(source, 'name') }),
  target: given({
    type: has(source, 'targetAverageUtilization') ? 'Utilization' : 'AverageValue',
    averageValue: value(source, 'targetAverageValue'),
    averageUtilization: value(source, 'targetAverageUtilization'),
  }),
  ...given({ container: value(source, 'container') }),
});

export const metricToV1 = convertWith({
  object: (source) => {
    const [metric, target] = [part(source, 'metric'), part(source, 'target')];
    return given({
      target: part(source, 'describedObject'),
      metricName: text(metric, 'name'),
      targetValue: value(target, 'value') ?? '0',
      selector: value(metric, 'selector'),
      averageValue: value(target, 'averageValue'),
    });
  },
  pods: (source) => {
    const metric = part(source, 'metric');
    return given({
      metricName: text(metric, 'name'),
      targetAverageValue: value(part(source, 'target'), 'averageValue') ?? '0',
      selector: value(metric, 'selector'),
    });
  },
  resource: resourceTo,
  containerResource: resourceTo,
  external: (source) => {
    const [metric, target] = [part(source, 'metric'), part(source, 'target')];
    return given({
      metricName: text(metric, 'name'),
      metricSelector: value(metric, 'selector'),
      targetValue: value(target, 'value'),
      targetAverageValue: value(target, 'averageValue'),
    });
  },
});

export const metricFromV1 = convertWith({
  object: (source) => {
    const average = value(source, 'averageValue');
    const total = value(source, 'targetValue') ?? '0';
    return {
      describedObject: part(source, 'target'),
      metric: identifier(value(source, 'metricName'), value(source, 'selector')),
      target: given({
        type: average === undefined ? 'Value' : 'AverageValue',
        // v1 always has a total; zero means that none was given.
        value: average !== undefined && total === '0' ? undefined : total,
        averageValue: average,
      }),
    };
  },
  pods: (source) => ({
    metric: identifier(value(source, 'metricName'), value(source, 'selector')),
    target: { type: 'AverageValue', averageValue: value(source, 'targetAverageValue') ?? '0' },
  }),
  resource: resourceFrom,
  containerResource: resourceFrom,
  external: (source) => ({
    metric: identifier(value(source, 'metricName'), value(source, 'metricSelector')),
    target: given({
      type: has(source, 'targetValue') ? 'Value' : 'AverageValue',
      value: value(source, 'targetValue'),
      averageValue: value(source, 'targetAverageValue'),
    }),
  }),
});

const currentResourceTo: Convert = (source) => {
  const current = part(source, 'current');
  return given({
    name: value(source, 'name'),
    currentAverageUtilization: value(current, 'averageUtilization'),
    currentAverageValue: value(current, 'averageValue') ?? '0',
    container: value(source, 'container'),
  });
};

const currentResourceFrom: Convert = (source) => ({
  ...given({ name: value(source, 'name') }),
  current: given({
    averageValue: value(source, 'currentAverageValue') ?? '0',
    averageUtilization: value(source, 'currentAverageUtilization'),
  }),
  ...given({ container: value(source, 'container') }),
});

export const statusToV1 = convertWith({
  object: (source) => {
    const [metric, current] = [part(source, 'metric'), part(source, 'current')];
    return given({
      target: part(source, 'describedObject'),
      metricName: text(metric, 'name'),
      currentValue: value(current, 'value') ?? '0',
      selector: value(metric, 'selector'),
      averageValue: value(current, 'averageValue'),
    });
  },
  pods: (source) => {
    const metric = part(source, 'metric');
    return given({
      metricName: text(metric, 'name'),
      currentAverageValue: value(part(source, 'current'), 'averageValue') ?? '0',
      selector: value(metric, 'selector'),
    });
  },
  resource: currentResourceTo,
  containerResource: currentResourceTo,
  external: (source) => {
    const [metric, current] = [part(source, 'metric'), part(source, 'current')];
    return given({
      metricName: text(metric, 'name'),
      metricSelector: value(metric, 'selector'),
      currentValue: value(current, 'value') ?? '0',
      currentAverageValue: value(current, 'averageValue'),
    });
  },
});

export const statusFromV1 = convertWith({
  object: (source) => ({
    metric: identifier(value(source, 'metricName'), value(source, 'selector')),
    current: given({
      value: value(source, 'currentValue') ?? '0',
      averageValue: value(source, 'averageValue'),
    }),
    describedObject: part(source, 'target'),
  }),
  pods: (source) => ({
    metric: identifier(value(source, 'metricName'), value(source, 'selector')),
    current: { averageValue: value(source, 'currentAverageValue') ?? '0' },
  }),
  resource: currentResourceFrom,
  containerResource: currentResourceFrom,
  external: (source) => ({
    metric: identifier(value(source, 'metricName'), value(source, 'metricSelector')),
    current: given({
      value: value(source, 'currentValue') ?? '0',
      averageValue: value(source, 'currentAverageValue'),
    }),
  }),
});
