// Finished Pods that ask for their end by annotation.

import { Pod } from '#api/kinds/builtin';
import { formatTime, type Instant, parseTime, plus, seconds } from '#base/instant';
import { POD_TTL_ANNOTATION } from '#controllers/ttl-after-finished/pod';
import { composeFamilies, findFamily } from '../scenarios/compose.ts';
import type { Subject } from './subject.ts';

const finishOf = ({ status }: Pod): Instant | undefined => {
  const at = status?.containerStatuses?.[0]?.state?.terminated?.finishedAt;
  return at === undefined ? undefined : parseTime(at);
};

const secondsUntil = (from: Instant, to: Instant): string =>
  String(Math.max(0, Math.ceil((to - from) / 1000)));

export const pods: Subject = {
  name: 'ttl-after-finished, Pods',
  kind: Pod,
  resource: 'pods',
  compose: composeFamilies({
    families: [findFamily('ttl-after-finished')],
    controllers: [],
    configuration: {},
    gates: { TTLAfterFinishedPods: true },
  }),
  create: (name, ends, now) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default', annotations: { [POD_TTL_ANNOTATION]: secondsUntil(now, ends) } },
    spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox' }] },
    status: {
      phase: 'Succeeded',
      containerStatuses: [
        {
          name: 'main',
          image: 'busybox',
          imageID: '',
          ready: false,
          restartCount: 0,
          state: { terminated: { exitCode: 0, finishedAt: formatTime(now) } },
        },
      ],
    },
  }),
  moveEnd: (object, ends) => ({
    metadata: { annotations: { [POD_TTL_ANNOTATION]: secondsUntil(finishOf(object as Pod) ?? ends, ends) } },
  }),
  deadlineOf: (object) => {
    const finish = finishOf(object as Pod);
    const ttl = object.metadata.annotations?.[POD_TTL_ANNOTATION];
    return finish === undefined || ttl === undefined ? undefined : plus(finish, seconds(Number(ttl)));
  },
  isTerminal: (object) => finishOf(object as Pod) !== undefined,
};
