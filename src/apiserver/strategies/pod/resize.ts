// Resizing a running pod: requests and limits of cpu and memory may change, not vanish, and not the QoS class.

import { type FieldError, forbidden, invalid } from '#api/fieldErrors';
import { clone, equal, type JsonObject } from '#api/json';
import type { KubeObject } from '#api/object';
import { specOf } from '../../resources/resource.ts';
import { child, objects, part, text } from '../values.ts';
import { qosClass } from './defaults.ts';

const RESIZABLE = ['cpu', 'memory'];

export function validatePodResize(next: KubeObject, old: KubeObject): FieldError[] {
  const [spec, before] = [specOf(next), specOf(old)];
  const [now, then] = [qosClass(spec), qosClass(before)];
  if (now !== then) return [invalid('spec', now, 'Pod QOS Class may not change as a result of resizing')];
  const errors: FieldError[] = [];
  for (const field of ['containers', 'initContainers'])
    objects(spec, field).forEach((container, i) => {
      const was = objects(before, field)[i];
      if (!was || equal(part(container, 'resources'), part(was, 'resources'))) return;
      const path = `spec.${field}[${i}].resources`;
      const resident = field === 'containers' || text(container, 'restartPolicy') === 'Always';
      if (!resident)
        errors.push(forbidden('spec', 'only cpu and memory resources for sidecar containers are mutable'));
      errors.push(...removed(part(container, 'resources'), part(was, 'resources'), path));
    });
  if (equal(withoutResizable(spec), withoutResizable(before))) return errors;
  return [...errors, forbidden('spec', 'only cpu and memory resources are mutable')];
}

function removed(now: JsonObject, then: JsonObject, path: string): FieldError[] {
  return ['limits', 'requests'].flatMap((list) => {
    const gone = RESIZABLE.some((r) => part(then, list)[r] !== undefined && part(now, list)[r] === undefined);
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
