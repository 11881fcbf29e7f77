// Names of signers: `example.com/signer-name`.

import { type FieldError, invalid, required, tooLong } from '@lapse/kube/api/fieldErrors';
import type { NameRule } from '../../metadata/validateMeta.ts';
import { labelName, subdomainName } from '../names.ts';

const MAX_DOMAIN = 253;
const MAX_NAME = 571;
const LEGACY = 'kubernetes.io/legacy-unknown';

export function validateSignerName(name: string, path: string): FieldError[] {
  if (name === LEGACY)
    return [invalid(path, name, 'the legacy signerName is not allowed via this API version')];
  if (name === '') return [required(path)];
  const [domain, signer, ...more] = name.split('/');
  if (domain === undefined || signer === undefined || more.length > 0)
    return [
      invalid(path, name, "must be a fully qualified domain and path of the form 'example.com/signer-name'"),
    ];
  return [
    ...(domain.length > MAX_DOMAIN ? [tooLong(path, MAX_DOMAIN)] : []),
    ...labelErrors(domain, labelName, path),
    ...(domain.includes('.')
      ? []
      : [invalid(path, domain, 'should be a domain with at least two segments separated by dots')]),
    ...labelErrors(signer, subdomainName, path),
    ...(name.length > MAX_NAME ? [tooLong(path, MAX_NAME)] : []),
  ];
}

/** The errors of the first label with errors. */
function labelErrors(segment: string, rule: NameRule, path: string): FieldError[] {
  const odd = segment.split('.').find((label) => rule(label).length > 0);
  if (odd === undefined) return [];
  return rule(odd).map((why) => invalid(path, segment, `validating label ${JSON.stringify(odd)}: ${why}`));
}
