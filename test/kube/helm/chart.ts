// A chart with everything that matters in an uninstall: kinds in and out of Helm's order, keep, Lists, hooks, CRDs,
// other namespaces. It is written to a directory, from which Helm reads charts.

import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Names of the custom kind differ per chart, because CRDs are cluster-wide. */
export interface ChartOptions {
  readonly directory: string;
  /** Part of the names of all cluster-scoped objects. */
  readonly id: string;
  /** Another existing namespace. */
  readonly elsewhere: string;
}

const widget = (id: string, kind: string) => `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: ${kind}s.${id}.example.com
spec:
  group: ${id}.example.com
  scope: Namespaced
  names: {kind: ${kind[0]!.toUpperCase()}${kind.slice(1)}, plural: ${kind}s, singular: ${kind}, listKind: ${kind[0]!.toUpperCase()}${kind.slice(1)}List}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`;

const configMap = (name: string, more = '') => `apiVersion: v1
kind: ConfigMap
metadata:
  name: ${name}
${more}data: {a: b}
`;

const keep = (value = 'keep') => `  annotations: {helm.sh/resource-policy: ${value}}\n`;

function templates({ id, elsewhere }: ChartOptions): Record<string, string> {
  return {
    'configmaps.yaml': [
      configMap('plain'),
      configMap('kept', keep()),
      configMap('odd-policy', keep('something-else')),
      configMap('unstamped'),
      configMap('kept-live'),
    ].join('---\n'),
    'deployment.yaml': `apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, image: example.com/none}]}
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {ports: [{port: {{ .Values.port }}}], selector: {app: web}}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: web}
---
apiVersion: v1
kind: Secret
metadata: {name: web}
stringData: {a: b}
`,
    'list.yaml': `apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: ConfigMap
  metadata: {name: listed}
- apiVersion: v1
  kind: ConfigMap
  metadata: {name: listed-kept, annotations: {helm.sh/resource-policy: keep}}
`,
    'rbac.yaml': `apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: web}
rules: []
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: web}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: web}
subjects: []
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: web-${id}}
rules: []
`,
    'foreign.yaml': configMap('foreign', `  namespace: ${elsewhere}\n`),
    'gadget.yaml': `apiVersion: ${id}.example.com/v1
kind: Gadget
metadata: {name: mine}
`,
    'growing.yaml': `{{- range $i := until (int .Values.count) }}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: growing-{{ $i }}}
{{- end }}
{{- if .Values.old }}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: only-old}
{{- end }}
{{- if .Values.broken }}
---
apiVersion: v1
kind: Service
metadata: {name: broken}
spec: {ports: [{port: 99999999}]}
{{- end }}
`,
    'hooks.yaml': `apiVersion: v1
kind: ConfigMap
metadata:
  name: hook-pre-install
  annotations: {helm.sh/hook: pre-install}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: hook-pre-delete
  annotations: {helm.sh/hook: pre-delete, helm.sh/hook-weight: "1"}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: hook-post-delete
  annotations: {helm.sh/hook: post-delete, helm.sh/hook-delete-policy: hook-succeeded}
`,
  };
}

export function writeChart(options: ChartOptions): string {
  const root = join(options.directory, `chart-${options.id}`);
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  write('Chart.yaml', 'apiVersion: v2\nname: shop\nversion: 0.1.0\n');
  write('values.yaml', 'port: 80\ncount: 1\nold: true\nbroken: false\n');
  write('crds/gadgets.yaml', widget(options.id, 'gadget'));
  for (const [name, text] of Object.entries(templates(options))) write(`templates/${name}`, text);
  return root;
}
