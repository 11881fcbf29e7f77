// imagePullPolicy of containers and image volumes.

import { type FieldError, required } from '@lapse/kube/api/fieldErrors';
import { oneOf } from '../checks.ts';

export const validatePullPolicy = (policy: string, path: string): FieldError[] =>
  policy === '' ? [required(path)] : oneOf(policy, ['Always', 'IfNotPresent', 'Never'], path);

const WORD = '[a-z0-9]+';
const COMPONENT = `${WORD}(?:(?:[._]|__|-+)${WORD})*`;
const TAG = ':(\\w[\\w.-]{0,127})';
const DIGEST = '@(?:sha256:[0-9a-f]{64}|sha384:[0-9a-f]{96}|sha512:[0-9a-f]{128})';
const IMAGE = new RegExp(`^(${COMPONENT}(?:/${COMPONENT})*)(?:${TAG})?(${DIGEST})?$`);
const LABEL = '[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?';
const HOST = new RegExp(`^(?:${LABEL}(?:\\.${LABEL})*|\\[[0-9a-fA-F:]+\\])(?::\\d+)?$`);
const IDENTIFIER = /^[a-f0-9]{64}$/;
const HUB = ['docker.io', 'index.docker.io'];
const MAX_NAME = 255;

/** Always for the tag `latest` or no tag, since it may move; not for an invalid image reference. */
export function defaultPullPolicy(image: string): string {
  const slash = image.indexOf('/');
  const first = image.slice(0, Math.max(slash, 0));
  const hasHost = /[.:A-Z]/.test(first) || first === 'localhost';
  const match = IDENTIFIER.test(image) ? null : IMAGE.exec(hasHost ? image.slice(slash + 1) : image);
  if (!match || (hasHost && !HOST.test(first))) return 'IfNotPresent';
  const [, name = '', tag, digest] = match;
  const known = hasHost && !HUB.includes(first);
  const path = known || name.includes('/') ? name : `library/${name}`;
  if (path.length > MAX_NAME) return 'IfNotPresent';
  return tag === 'latest' || (tag === undefined && digest === undefined) ? 'Always' : 'IfNotPresent';
}
