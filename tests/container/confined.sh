#!/bin/sh
# Runs a command as a container would: read-only root, a /tmp of its own, no capabilities, a user
# without a name. Needs root, inside `unshare --mount`. PYTHON, SITE, APP, CONFIG are folders to see
# under /mnt, STATE the one that may be written.
set -eu
mount -t tmpfs -o mode=755 tmpfs /mnt
for name in python site app config state; do mkdir "/mnt/$name"; done
mount --bind "$PYTHON" /mnt/python
mount --bind "$SITE" /mnt/site
mount --bind "$APP" /mnt/app
mount --bind "$CONFIG" /mnt/config
mount --bind "$STATE" /mnt/state
mount -t tmpfs -o mode=1777,size=64m tmpfs /tmp
for name in /python /site /app /config "" ; do mount -o remount,bind,ro "/mnt$name"; done
mount -o remount,bind,ro /
cd /mnt/config
exec setpriv --reuid 65534 --regid 65534 --clear-groups --no-new-privs \
  --inh-caps=-all --bounding-set=-all -- "$@"
