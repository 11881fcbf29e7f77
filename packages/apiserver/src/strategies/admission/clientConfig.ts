// Validates the clientConfig of a webhook: an https URL, or a Service and a path.

import { type FieldError, invalid, required } from '@lapse/kube/api/fieldErrors';
import type { JsonObject } from '@lapse/kube/api/json';
import { inRange } from '../checks.ts';
import { subdomainName } from '../names.ts';
import { number, text } from '../values.ts';

const FORM = '; desired format: https://host[/path]';

/** The error of Go's url.Parse for an invalid URL. */
function parseComplaint(url: string): string | undefined {
  const shown = JSON.stringify(url);
  if (/[\x00-\x1f\x7f]/.test(url)) return `parse ${shown}: net/url: invalid control character in URL`;
  if (url.startsWith(':')) return `parse ${shown}: missing protocol scheme`;
  const broken = /%(?![0-9a-f]{2}).{0,2}/i.exec(url.replace(/[?#].*$/, ''));
  if (broken) return `parse ${shown}: invalid URL escape ${JSON.stringify(broken[0])}`;
  return undefined;
}

export function validateWebhookUrl(url: string, path: string): FieldError[] {
  const complaint = parseComplaint(url);
  if (complaint) return [required(path, `url must be a valid URL: ${complaint}${FORM}`)];
  const match =
    /^(?:([A-Za-z][A-Za-z0-9+.-]*):)?(?:\/\/(?:([^@/?#]*)@)?([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/s.exec(
      url,
    );
  const [, scheme = '', user, host = '', , query = '', fragment = ''] = match ?? [];
  const errors: FieldError[] = [];
  if (scheme.toLowerCase() !== 'https')
    errors.push(invalid(path, scheme.toLowerCase(), `'https' is the only allowed URL scheme${FORM}`));
  if (host === '') errors.push(invalid(path, '', `host must be specified${FORM}`));
  if (user !== undefined) errors.push(invalid(path, user, 'user information is not permitted in the URL'));
  if (fragment !== '') errors.push(invalid(path, fragment, 'fragments are not permitted in the URL'));
  if (query !== '') errors.push(invalid(path, query, 'query parameters are not permitted in the URL'));
  return errors;
}

export function validateServiceReference(service: JsonObject, path: string): FieldError[] {
  const port = number(service, 'port') ?? 0;
  const location = text(service, 'path');
  // kube-apiserver swaps the two names: a missing one is reported under the other.
  return [
    ...(text(service, 'namespace') === '' ? [required(`${path}.name`)] : []),
    ...(text(service, 'name') === '' ? [required(`${path}.namespace`)] : []),
    ...(port < 1 || port > 65_535
      ? [invalid(`${path}.port`, port, `port is not valid: ${inRange(1, 65_535)}`)]
      : []),
    ...pathErrors(location, `${path}.path`),
  ];
}

function pathErrors(location: string, path: string): FieldError[] {
  if (location === '' || location === '/') return [];
  if (location === '//') return [invalid(path, location, 'segment[0] may not be empty')];
  const errors = location.startsWith('/') ? [] : [invalid(path, location, "must start with a '/'")];
  const segments = location.slice(1).replace(/\/$/, '').split('/');
  segments.forEach((segment, i) => {
    if (segment === '') errors.push(invalid(path, location, `segment[${i}] may not be empty`));
    else
      for (const complaint of subdomainName(segment))
        errors.push(invalid(path, location, `segment[${i}]: ${complaint}`));
  });
  return errors;
}
