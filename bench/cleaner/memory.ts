// What `lapse run` needs for very many waiting Cleaners: resident memory and heap, measured in a separate process.

import { fileURLToPath } from 'node:url';
import { measureController, type Usage } from '../growth/contender.ts';
import { program } from '../head-to-head/contenders.ts';

export function measureWaiting(count: number, built: boolean): Promise<Usage> {
  const script = fileURLToPath(new URL('./server.ts', import.meta.url));
  return measureController({
    count,
    script,
    isNode: true,
    command: (kubeconfig) => [
      ...program(built),
      'run',
      `--kubeconfig=${kubeconfig}`,
      '--controllers=cleaner',
      '--act-as=controller',
      '--leader-elect=false',
      '--metrics-bind-address=0',
      '--log-format=json',
      '--verbosity=warn',
    ],
  });
}
