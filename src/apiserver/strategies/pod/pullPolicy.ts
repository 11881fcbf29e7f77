// imagePullPolicy of containers and image volumes.

import { type FieldError, required } from '#api/fieldErrors';
import { oneOf } from '../checks.ts';

export const validatePullPolicy = (policy: string, path: string): FieldError[] =>
  policy === '' ? [required(path)] : oneOf(policy, ['Always', 'IfNotPresent', 'Never'], path);

const WORD = '[a-z0-9]+';
const COMPONENT = `${WORD}(?:(?:[._]|__|-+)${WORD})*`;
const DOMAIN = '(?:localhost|[A-Za-z0-9-]*[.:A-Z][A-Za-z0-9.:-]*|\\[[0-9a-fA-F:]+\\](?::\\d+)?)';
const IMAGE = new RegExp(
  `^(?:${DOMAIN}/)?${COMPONENT}(?:/${COMPONENT})*(?::(\\w[\\w.-]{0,127}))?(@[A-Za-z][\\w+.-]*:[0-9a-fA-F]{32,})?$`,
);

/** Images are pulled always when their tag may move: `latest`, or none. What is no image reference is not. */
export function defaultPullPolicy(image: string): string {
  const match = IMAGE.exec(image);
  if (!match) return 'IfNotPresent';
  const [, tag, digest] = match;
  return tag === 'latest' || (tag === undefined && digest === undefined) ? 'Always' : 'IfNotPresent';
}
