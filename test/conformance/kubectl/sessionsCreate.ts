// create in all its forms. The typed ones send protobuf, without a retry in JSON.

import { CONFIG, JOB, together } from './manifests.ts';
import { type Command, k, type Session } from './types.ts';

/** The command, and then the created object. */
const typed = (line: string, read: string): Command[] => [
  k(line, { sendsProtobuf: true }),
  k(`get ${read} -o yaml`),
];

// kubectl validates a List with the OpenAPI v2 document, and reads that in protobuf only.
const LIST = `apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: ConfigMap, metadata: {name: listed}, data: {a: b}}
- {apiVersion: v1, kind: Secret, metadata: {name: listed}, stringData: {a: b}}
`;

export const CREATE_SESSIONS: readonly Session[] = [
  {
    name: 'create-typed',
    commands: [
      ...typed(
        'create configmap settings --from-literal=colour=red --from-literal=size=small',
        'cm settings',
      ),
      ...typed('create secret generic login --from-literal=password=hunter2', 'secret login'),
      ...typed('create secret docker-registry pull --docker-username=a --docker-password=b', 'secret pull'),
      ...typed('create job report --image=example.com/report:1 -- sh -c true', 'job report'),
      ...typed(
        "create cronjob nightly --image=example.com/report:1 --schedule='0 0 * * *'",
        'cronjob nightly',
      ),
      ...typed(
        'create deployment shop --image=example.com/shop:1 --replicas=2 --port=8080',
        'deployment shop',
      ),
      ...typed('create service clusterip shop --clusterip=None', 'service shop'),
      ...typed('create service externalname ext --external-name=example.com', 'service ext'),
      ...typed('create serviceaccount robot', 'serviceaccount robot'),
      ...typed('create role reader --verb=get,list --resource=configmaps', 'role reader'),
      ...typed(
        'create rolebinding readers --role=reader --serviceaccount={{ns}}:robot',
        'rolebinding readers',
      ),
      ...typed('create quota small --hard=pods=1', 'quota small'),
      ...typed('create ingress web --rule=example.com/*=shop:80', 'ingress web'),
      ...typed('create poddisruptionbudget pdb --selector=app=shop --min-available=1', 'pdb pdb'),
      k('create namespace {{ns}}-second', { sendsProtobuf: true }),
      k('get ns {{ns}}-second -o yaml'),
      k('create configmap settings', { sendsProtobuf: true }),
      k('create configmap Settings', { sendsProtobuf: true }),
      k('create configmap dry --dry-run=server -o yaml', { sendsProtobuf: true }),
      k('create job copy --from=cronjob/nightly', { sendsProtobuf: true }),
      k('get job copy -o yaml'),
    ],
  },
  {
    name: 'create-files',
    commands: [
      k('create -f -', { stdin: together(CONFIG, JOB) }),
      k('create -f -', { stdin: CONFIG }),
      k('create -f - --dry-run=server', { stdin: CONFIG.replace('settings', 'dry') }),
      k('create -f -', { stdin: CONFIG.replace('\ndata:', '\ndada:').replace('settings', 'misspelt') }),
      k('create -f -', { stdin: CONFIG.replace('ConfigMap', 'ConfigMop') }),
      k('create -f -', { stdin: LIST }),
      k('create -f -', { stdin: LIST.replace('data:', 'dada:').replaceAll('listed', 'odd') }),
      k('get cm,secret listed -o yaml'),
      k('create -f -', { stdin: CONFIG.replace('red', '[1, 2]').replace('settings', 'mistyped') }),
      k('create -f -', { stdin: JOB.replace('Never', 'Sometimes').replace('report', 'invalid') }),
      k('create -f -', { stdin: CONFIG.replace('name: settings', 'generateName: settings-') }),
      k('run web --image=example.com/web:1'),
      k('get pod web -o yaml'),
      k('expose pod web --port=80 --cluster-ip=None'),
      k('get service web -o yaml'),
    ],
  },
];
