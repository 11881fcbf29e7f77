// Name validation with the messages of the older Kubernetes helpers: they count characters where the newer ones (of
// label keys and label values) count bytes. The limits are the same.

import {
  checkConfigMapKey,
  checkDns1035Label,
  checkDns1123Label,
  checkDns1123Subdomain,
  checkPathSegment,
} from '@lapse/kube/api/names';
import type { NameRule } from '../metadata/validateMeta.ts';

const inCharacters = (complaint: string) =>
  complaint.replace(/^(must be no more than \d+) bytes$/, '$1 characters');
const older =
  (rule: NameRule): NameRule =>
  (name) =>
    rule(name).map(inCharacters);

export const subdomainName = older(checkDns1123Subdomain);
/** A label; the error mentions when the name would be valid as a domain name. */
export const labelName: NameRule = (name) => {
  const dotted = checkDns1123Subdomain(name).every((complaint) => complaint.startsWith('must be no more'));
  return older(checkDns1123Label)(name).map((complaint) =>
    dotted && complaint.startsWith('a lowercase') ? 'must not contain dots' : complaint,
  );
};
export const label1035Name = older(checkDns1035Label);
export const configKey = older(checkConfigMapKey);
export const pathSegmentName: NameRule = checkPathSegment;

/** Container and service ports: `IANA_SVC_NAME`. */
export function portName(name: string): string[] {
  const complaints: string[] = [];
  if (name.length > 15) complaints.push('must be no more than 15 characters');
  if (!/^[-a-z0-9]+$/.test(name))
    complaints.push('must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)');
  if (!/[a-z]/.test(name)) complaints.push('must contain at least one letter (a-z)');
  if (name.includes('--')) complaints.push('must not contain consecutive hyphens');
  if (name !== '' && (name.startsWith('-') || name.endsWith('-')))
    complaints.push('must not begin or end with a hyphen');
  return complaints;
}
