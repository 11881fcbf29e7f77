// apply, diff, delete, patch, label, annotate, edit, replace, scale, set.

import { CONFIG, DEPLOYMENT, JOB, OTHER_CONFIG, POD, SECRET, together, WIDGET } from './manifests.ts';
import { defineWidgets } from './sessionsRead.ts';
import { k, type Session } from './types.ts';

const BLUE = CONFIG.replace('red', 'blue');

const shell = (script: string) => ({ KUBE_EDITOR: `sh -c '${script}' editor` });

export const WRITE_SESSIONS: readonly Session[] = [
  {
    name: 'apply',
    commands: [
      k('apply -f -', { stdin: CONFIG }),
      k('apply -f -', { stdin: CONFIG }),
      k('apply -f -', { stdin: BLUE }),
      k('get cm settings -o yaml'),
      k('apply -f -', { stdin: CONFIG.replace('  size: small\n', '') }),
      k('get cm settings -o yaml'),
      k('apply -f -', { stdin: CONFIG.replace('\ndata:', '\ndada:') }),
      k('apply -f -', { stdin: together(JOB, DEPLOYMENT) }),
      k('apply -f -', {
        stdin: DEPLOYMENT.replace('replicas: 2', 'replicas: 3').replace('shop:1', 'shop:2'),
      }),
      k('get deployment shop -o yaml'),
      k('apply -f -', { stdin: JOB.replace('report:1', 'report:2') }),
      k('apply view-last-applied cm settings'),
      k('apply -f - --prune -l tier=gold', { stdin: OTHER_CONFIG.replace('silver', 'gold') }),
      k('get cm'),
    ],
  },
  {
    name: 'apply-custom',
    commands: [
      ...defineWidgets,
      k('apply -f -', { stdin: WIDGET }),
      k('apply -f -', { stdin: WIDGET.replace('first', 'second') }),
      k('get {{widget}} gadget -o yaml'),
      k('apply -f -', { stdin: WIDGET.replace('small', 'medium') }),
      k('apply -f -', { stdin: WIDGET.replace('note:', 'nota:') }),
    ],
  },
  {
    name: 'apply-server-side',
    commands: [
      k('apply --server-side -f -', { stdin: CONFIG }),
      k('get cm settings -o yaml --show-managed-fields'),
      k('apply --server-side -f -', { stdin: BLUE }),
      k('apply --server-side --field-manager=other -f -', { stdin: CONFIG }),
      k('apply --server-side --field-manager=other --force-conflicts -f -', { stdin: CONFIG }),
      k('diff --server-side -f -', { stdin: BLUE }),
      k('apply --server-side --dry-run=server -f -', { stdin: CONFIG.replace('data:', 'dada:') }),
      k('apply --server-side -f -', { stdin: together(JOB, DEPLOYMENT) }),
      k('get deployment shop -o yaml --show-managed-fields'),
      // From client-side to server-side apply.
      k('apply -f -', { stdin: OTHER_CONFIG }),
      k('apply --server-side -f -', { stdin: OTHER_CONFIG.replace('red', 'green') }),
      k('get cm others -o yaml --show-managed-fields'),
    ],
  },
  {
    name: 'diff',
    commands: [
      k('diff -f -', { stdin: CONFIG }),
      k('apply -f -', { stdin: CONFIG }),
      k('diff -f -', { stdin: CONFIG }),
      k('diff -f -', { stdin: BLUE }),
      k('get cm settings -o yaml'),
    ],
  },
  {
    name: 'delete',
    commands: [
      k('create -f -', { stdin: together(CONFIG, OTHER_CONFIG, JOB, POD, SECRET) }),
      k('delete cm settings --wait'),
      k('delete cm settings'),
      k('delete cm settings --ignore-not-found'),
      k('delete cm -l tier=silver'),
      k('delete job report --cascade=orphan --wait=false'),
      k('get job report -o yaml'),
      k(`patch job report --type=json -p '[{"op":"remove","path":"/metadata/finalizers"}]'`),
      k('get job report'),
      k('delete pod web --now'),
      k('delete secret --all'),
      k('delete cm nothing --dry-run=server'),
      k('delete -f -', { stdin: CONFIG }),
      k('get cm,jobs,pods,secrets'),
      k('delete cm'),
    ],
  },
  {
    name: 'patch',
    commands: [
      ...defineWidgets,
      k('create -f -', { stdin: together(CONFIG, DEPLOYMENT, WIDGET) }),
      k(`patch cm settings -p '{"data":{"colour":"green"}}'`),
      k(`patch cm settings --type=merge -p '{"data":{"size":null}}'`),
      k(`patch cm settings --type=json -p '[{"op":"add","path":"/data/weight","value":"heavy"}]'`),
      k(`patch cm settings --type=json -p '[{"op":"test","path":"/data/colour","value":"red"}]'`),
      k(`patch cm settings -p '{"data":{"colour":"green"}}'`),
      k(`patch cm settings -p '{"data":{"colour":7}}'`),
      k('get cm settings -o yaml'),
      k(
        `patch deployment shop -p '{"spec":{"template":{"spec":{"containers":[{"name":"side","image":"example.com/side:1"}]}}}}'`,
      ),
      k('get deployment shop -o yaml'),
      k(`patch {{widget}} gadget --type=merge -p '{"spec":{"note":"patched"}}'`),
      k(`patch {{widget}} gadget --type=json -p '[{"op":"replace","path":"/spec/size","value":"large"}]'`),
      k(`patch {{widget}} gadget -p '{"spec":{"note":"strategic"}}'`),
      k('get {{widget}} gadget -o yaml'),
      k(`patch cm nothing -p '{}'`),
    ],
  },
  {
    name: 'label',
    commands: [
      k('create -f -', { stdin: together(CONFIG, OTHER_CONFIG) }),
      k('label cm settings team=a'),
      k('label cm settings team=b'),
      k('label cm settings team=b --overwrite'),
      k('label cm settings team-'),
      k('label cm settings bad/label/name=x'),
      k('label cm -l tier=silver found=yes'),
      k('label cm --all every=one'),
      k('annotate cm settings note=hello'),
      k('annotate cm settings note=again --overwrite'),
      k('annotate cm settings note-'),
      k('get cm -o yaml'),
    ],
  },
  {
    name: 'edit',
    commands: [
      k('create -f -', { stdin: CONFIG }),
      k('edit cm settings', { env: shell('true') }),
      k('edit cm settings', { env: shell('sed -i s/red/blue/ "$1"') }),
      k('get cm settings -o yaml'),
      k('edit cm nothing', { env: shell('true') }),
    ],
  },
  {
    name: 'replace',
    commands: [
      k('create -f -', { stdin: CONFIG }),
      k('replace -f -', { stdin: BLUE }),
      k('get cm settings -o yaml'),
      k('replace -f -', { stdin: OTHER_CONFIG }),
      k('replace --force -f -', { stdin: CONFIG }),
      k('get cm settings -o yaml'),
    ],
  },
  {
    name: 'scale',
    commands: [
      ...defineWidgets,
      k('create -f -', { stdin: together(DEPLOYMENT, WIDGET, JOB) }),
      k('scale {{widget}} gadget --replicas=3'),
      k('get {{widget}} gadget -o yaml'),
      k('scale {{widget}} gadget --replicas=5 --current-replicas=1'),
      k('scale deployment shop --replicas=4'),
      k('get deployment shop'),
      k('scale job report --replicas=2'),
      k('set image deployment/shop main=example.com/shop:3'),
      k('set env deployment/shop MODE=fast'),
      k('get deployment shop -o yaml'),
      k('rollout restart deployment/shop'),
      k('rollout pause deployment/shop'),
      k('autoscale deployment nothing --max=3'),
    ],
  },
];
