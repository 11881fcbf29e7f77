// A kind that the server does not know beforehand: Widgets, with arbitrary contents.

import type { Json } from '@lapse/kube/api/json';
import type { KubeObject } from '@lapse/kube/api/object';

interface Definition extends KubeObject {
  spec: {
    group: string;
    scope: string;
    names: object;
    versions: { name: string; served: boolean; storage: boolean; schema: object }[];
  };
}

export const widgetsOf = (group: string): Definition => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `widgets.${group}` },
  spec: {
    group,
    scope: 'Namespaced',
    names: { kind: 'Widget', plural: 'widgets', singular: 'widget', listKind: 'WidgetList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
});

/** Objects of the CRD, in the namespace `default`. */
export const widgetOf = (
  { spec: { group } }: Definition,
  name: string,
  spec?: Json,
  labels?: Record<string, string>,
): KubeObject => ({
  apiVersion: `${group}/v1`,
  kind: 'Widget',
  metadata: { name, namespace: 'default', ...(labels === undefined ? {} : { labels }) },
  ...(spec === undefined ? {} : { spec }),
});
