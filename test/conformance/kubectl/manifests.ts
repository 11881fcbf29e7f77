// The objects of the sessions.

export const CONFIG = `apiVersion: v1
kind: ConfigMap
metadata:
  name: settings
  labels: {tier: gold}
data:
  colour: red
  size: small
`;

export const OTHER_CONFIG = CONFIG.replace('settings', 'others').replace('gold', 'silver');

export const JOB = `apiVersion: batch/v1
kind: Job
metadata:
  name: report
spec:
  ttlSecondsAfterFinished: 60
  template:
    spec:
      restartPolicy: Never
      containers:
      - name: main
        image: example.com/report:1
        command: ["sh", "-c", "true"]
`;

export const POD = `apiVersion: v1
kind: Pod
metadata:
  name: web
  labels: {app: web}
spec:
  terminationGracePeriodSeconds: 0
  containers:
  - name: main
    image: example.com/web:1
    ports:
    - containerPort: 8080
    env:
    - {name: MODE, value: fast}
`;

export const DEPLOYMENT = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: shop
spec:
  replicas: 2
  selector:
    matchLabels: {app: shop}
  template:
    metadata:
      labels: {app: shop}
    spec:
      containers:
      - name: main
        image: example.com/shop:1
        ports:
        - containerPort: 8080
`;

export const SERVICE = `apiVersion: v1
kind: Service
metadata:
  name: shop
spec:
  selector: {app: shop}
  clusterIP: None
  ports:
  - {name: http, port: 80, targetPort: 8080}
`;

export const SECRET = `apiVersion: v1
kind: Secret
metadata:
  name: login
stringData:
  password: hunter2
`;

export const EVENT = `apiVersion: v1
kind: Event
metadata:
  name: report.1
involvedObject: {kind: Job, apiVersion: batch/v1, name: report, namespace: {{ns}}}
reason: Completed
message: Job completed
type: Normal
count: 1
source: {component: job-controller}
firstTimestamp: "2024-05-01T10:00:00Z"
lastTimestamp: "2024-05-01T10:00:00Z"
`;

/** The names are unique to the session: CRDs are cluster-wide, and kubectl would confuse two of one name. */
export const DEFINITION = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: {{widget}}s.{{ns}}.example.com
spec:
  group: {{ns}}.example.com
  scope: Namespaced
  names: {plural: {{widget}}s, singular: {{widget}}, kind: {{Widget}}, shortNames: [wd{{widget}}], categories: [all]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources:
      status: {}
      scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas}
    additionalPrinterColumns:
    - {name: Size, type: string, jsonPath: .spec.size}
    - {name: Wide, type: string, jsonPath: .spec.note, priority: 1}
    - {name: Age, type: date, jsonPath: .metadata.creationTimestamp}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            required: [size]
            properties:
              size: {type: string, enum: [small, large]}
              note: {type: string}
              replicas: {type: integer, minimum: 0}
              parts:
                type: array
                items:
                  type: object
                  properties:
                    name: {type: string}
          status:
            type: object
            properties:
              replicas: {type: integer}
              conditions:
                type: array
                items:
                  type: object
                  properties:
                    type: {type: string}
                    status: {type: string}
`;

export const WIDGET = `apiVersion: {{ns}}.example.com/v1
kind: {{Widget}}
metadata:
  name: gadget
spec:
  size: small
  note: first
  replicas: 1
`;

export const together = (...documents: string[]): string => documents.join('---\n');
