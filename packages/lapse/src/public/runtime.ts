export * from '@lapse/runtime/library';
