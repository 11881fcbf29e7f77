// Parses the requested resourceVersion. Each verb has its own error for an invalid one.

import { badRequest, internal } from '@lapse/kube/api/errors';
import { ApiError } from '@lapse/kube/api/status';

const DIGITS = /^[0-9]+$/;

const unreadable = (text: string) => `strconv.ParseUint: parsing "${text}": invalid syntax`;
const complaint = (text: string) => `resourceVersion: Invalid value: "${text}": ${unreadable(text)}`;

/** 0 means any. */
export function listRevision(text: string): number {
  if (text === '') return 0;
  if (!DIGITS.test(text)) throw badRequest(`invalid resource version: ${complaint(text)}`);
  return Number(text);
}

export function watchRevision(text: string): number {
  if (text === '') return 0;
  if (!DIGITS.test(text)) throw internal(complaint(text));
  return Number(text);
}

export function getRevision(text: string): number {
  if (text === '') return 0;
  if (!DIGITS.test(text)) throw internal(unreadable(text));
  return Number(text);
}

/** The requested version is newer than this server. */
export function tooLarge(wanted: number, current: number): ApiError {
  return new ApiError(504, 'Timeout', `Timeout: Too large resource version: ${wanted}, current: ${current}`, {
    causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
    retryAfterSeconds: 1,
  });
}
