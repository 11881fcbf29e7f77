// Resizing a running Pod: requests and limits of cpu and memory may change, but not be removed, and the QoS class
// must not change.

import { type FieldError, forbidden, invalid } from '@lapse/kube/api/fieldErrors';
import { clone, equal, type JsonObject } from '@lapse/kube/api/json';
import type { KubeObject } from '@lapse/kube/api/object';
import { specOf, statusOf } from '../../resources/resource.ts';
import { child, objects, part, text } from '../values.ts';
import { qosClass } from './defaults.ts';

const RESIZABLE = ['cpu', 'memory'];

export function validatePodResize(next: KubeObject, old: KubeObject): FieldError[] {
  const [spec, before] = [specOf(next), specOf(old)];
  const errors: FieldError[] = [];
  const then = text(statusOf(old), 'qosClass') || qosClass(before);
  if (qosClass(spec) !== then)
    errors.push(
      invalid(
        'spec',
        text(statusOf(next), 'qosClass'),
        'Pod QOS Class may not change as a result of resizing',
      ),
    );
  for (const field of ['initContainers', 'containers'])
    objects(spec, field).forEach((container, i) => {
      const was = objects(before, field)[i];
      const resident = field === 'containers' || text(container, 'restartPolicy') === 'Always';
      const [wanted, had] = [part(container, 'resources'), part(was, 'resources')];
      if (resident) errors.push(...removed(wanted, had, `spec.${field}[${i}].resources`));
      else if (!equal(wanted, had))
        errors.push(forbidden('spec', 'resources for non-sidecar init containers are immutable'));
    });
  if (errors.length > 0 || equal(withoutResizable(spec), withoutResizable(before))) return errors;
  return [forbidden('spec', 'only cpu and memory resources are mutable')];
}

function removed(now: JsonObject, then: JsonObject, path: string): FieldError[] {
  return ['requests', 'limits'].flatMap((list) => {
    const gone = Object.keys(part(then, list)).some((r) => part(now, list)[r] === undefined);
    return gone ? [forbidden(`${path}.${list}`, `resource ${list} cannot be removed`)] : [];
  });
}

function withoutResizable(spec: JsonObject): JsonObject {
  const out = clone(spec);
  for (const container of [...objects(out, 'containers'), ...objects(out, 'initContainers')]) {
    delete container['resizePolicy'];
    for (const list of ['limits', 'requests']) {
      const amounts = child(child(container, 'resources'), list);
      for (const name of RESIZABLE) if (amounts) delete amounts[name];
      if (amounts && Object.keys(amounts).length === 0) delete child(container, 'resources')![list];
    }
  }
  return out;
}
