// Validates spec.conversion: None, or a webhook with an address and its review versions.

import {
  type FieldError,
  forbidden,
  invalid,
  notSupported,
  quoteGo,
  required,
} from '@lapse/kube/api/fieldErrors';
import { isObject, type JsonObject } from '@lapse/kube/api/json';
import { label1035Name, subdomainName } from '../../strategies/names.ts';
import { objectAt, textAt, textsAt } from '../crd.ts';

const REVIEW_VERSIONS = ['v1', 'v1beta1'];

export interface ConversionStrictness {
  /** At least one review version must be supported by this server. */
  readonly recognizedReviewVersion: boolean;
  readonly validCaBundle: boolean;
}

export const reviewVersionsOf = (conversion: JsonObject | undefined): string[] =>
  textsAt(objectAt(conversion ?? {}, 'webhook'), 'conversionReviewVersions');

/** Whether the old review versions were valid; then the new ones must be, too. */
export function speaksKnownReview(conversion: JsonObject | undefined): boolean {
  const versions = reviewVersionsOf(conversion);
  return versions.length === 0 || versions.some((v) => REVIEW_VERSIONS.includes(v));
}

export function validateConversion(
  conversion: JsonObject | undefined,
  path: string,
  strictness: ConversionStrictness,
): FieldError[] {
  if (!conversion) return [];
  const strategy = textAt(conversion, 'strategy');
  const errors: FieldError[] = [];
  if (strategy === '') errors.push(required(`${path}.strategy`));
  else if (strategy !== 'None' && strategy !== 'Webhook') {
    errors.push(notSupported(`${path}.strategy`, strategy, ['None', 'Webhook']));
  }
  const versions = reviewVersionsOf(conversion);
  const config = objectAt(conversion, 'webhook')['clientConfig'];
  if (strategy === 'Webhook') {
    errors.push(...validateClientConfig(config, `${path}.webhookClientConfig`, strictness));
    errors.push(...validateReviewVersions(versions, `${path}.conversionReviewVersions`, strictness));
    return errors;
  }
  const unwanted = 'should not be set when strategy is not set to Webhook';
  if (isObject(config)) errors.push(forbidden(`${path}.webhookClientConfig`, unwanted));
  if (versions.length > 0) errors.push(forbidden(`${path}.conversionReviewVersions`, unwanted));
  return errors;
}

function validateReviewVersions(
  versions: readonly string[],
  path: string,
  { recognizedReviewVersion }: ConversionStrictness,
): FieldError[] {
  if (versions.length === 0) return [required(path)];
  const errors: FieldError[] = [];
  for (const [i, version] of versions.entries()) {
    if (versions.indexOf(version) < i) {
      errors.push(invalid(`${path}[${i}]`, version, 'duplicate version'));
      continue;
    }
    for (const complaint of label1035Name(version)) {
      errors.push(invalid(`${path}[${i}]`, version, complaint));
    }
  }
  if (recognizedReviewVersion && !versions.some((v) => REVIEW_VERSIONS.includes(v))) {
    errors.push(invalid(path, [...versions], `must include at least one of ${REVIEW_VERSIONS.join(', ')}`));
  }
  return errors;
}

function validateClientConfig(
  config: JsonObject[string],
  path: string,
  { validCaBundle }: ConversionStrictness,
): FieldError[] {
  if (!isObject(config)) return [required(path, 'required when strategy is set to Webhook')];
  const { url, service } = config;
  const errors: FieldError[] = [];
  if ((typeof url === 'string') === isObject(service)) {
    errors.push(required(path, 'exactly one of url or service is required'));
  } else if (typeof url === 'string') errors.push(...validateUrl(url, `${path}.url`));
  else errors.push(...validateService(service as JsonObject, `${path}.service`));
  const bundle = textAt(config, 'caBundle');
  if (bundle && validCaBundle && !isCaBundle(bundle)) {
    const text = 'unable to load root certificates: unable to parse bytes as PEM block';
    errors.push(invalid(`${path}.caBundle`, bundle, text));
  }
  return errors;
}

/** Whether the text is base64 of at least one PEM certificate. */
export function isCaBundle(base64: string): boolean {
  return Buffer.from(base64, 'base64').toString('latin1').includes('-----BEGIN CERTIFICATE-----');
}

const URL_FORM = '; desired format: https://host[/path]';

function validateUrl(text: string, path: string): FieldError[] {
  const unreadable = urlProblem(text);
  if (unreadable) {
    return [required(path, `url must be a valid URL: parse ${quoteGo(text)}: ${unreadable}${URL_FORM}`)];
  }
  const errors: FieldError[] = [];
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(text)?.[1]?.toLowerCase() ?? '';
  const authority = /^[^:/?#]+:\/\/([^/?#]*)/.exec(text)?.[1] ?? '';
  const at = authority.lastIndexOf('@');
  const fragment = /#(.*)$/s.exec(text)?.[1] ?? '';
  const query = /\?([^#]*)/.exec(text)?.[1] ?? '';
  if (scheme !== 'https')
    errors.push(invalid(path, scheme, `'https' is the only allowed URL scheme${URL_FORM}`));
  if (authority.slice(at + 1) === '') errors.push(invalid(path, '', `host must be specified${URL_FORM}`));
  if (at >= 0)
    errors.push(invalid(path, authority.slice(0, at), 'user information is not permitted in the URL'));
  if (fragment) errors.push(invalid(path, fragment, 'fragments are not permitted in the URL'));
  if (query) errors.push(invalid(path, query, 'query parameters are not permitted in the URL'));
  return errors;
}

/** The errors of net/url's Parse that matter here. */
function urlProblem(text: string): string | undefined {
  const control = [...text].some((ch) => ch < ' ' || ch === '\x7f');
  if (control) return 'net/url: invalid control character in URL';
  if (text.startsWith(':')) return 'missing protocol scheme';
  const scheme = /^([^:/?#]*):/.exec(text)?.[1];
  if (scheme !== undefined && !/^[a-z][a-z0-9+.-]*$/i.test(scheme)) {
    return 'first path segment in URL cannot contain colon';
  }
  return undefined;
}

function validateService(service: JsonObject, path: string): FieldError[] {
  const errors: FieldError[] = [];
  // kube-apiserver passes the two in the wrong order, so each error names the other field.
  if (textAt(service, 'namespace') === '') errors.push(required(`${path}.name`));
  if (textAt(service, 'name') === '') errors.push(required(`${path}.namespace`));
  const port = Number(service['port'] ?? 443);
  if (port < 1 || port > 65535) {
    const text = 'port is not valid: must be between 1 and 65535, inclusive';
    errors.push(invalid(`${path}.port`, port, text));
  }
  if (typeof service['path'] === 'string') {
    errors.push(...validateUrlPath(service['path'], `${path}.path`));
  }
  return errors;
}

function validateUrlPath(value: string, path: string): FieldError[] {
  if (value === '' || value === '/') return [];
  if (value === '//') return [invalid(path, value, 'segment[0] may not be empty')];
  const errors: FieldError[] = [];
  if (!value.startsWith('/')) errors.push(invalid(path, value, "must start with a '/'"));
  for (const [i, step] of value.slice(1).replace(/\/$/, '').split('/').entries()) {
    if (step === '') errors.push(invalid(path, value, `segment[${i}] may not be empty`));
    else
      for (const complaint of subdomainName(step)) {
        errors.push(invalid(path, value, `segment[${i}]: ${complaint}`));
      }
  }
  return errors;
}
