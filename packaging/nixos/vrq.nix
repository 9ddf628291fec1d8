# SPDX-License-Identifier: GPL-2.0-only
# A module for configuration.nix: imports = [ ./vrq.nix ]; with vrq.patch of a release
# beside it. The attribute was named extraStructuredConfig before.
{ lib, pkgs, ... }:

{
  boot.kernelPackages = pkgs.linuxPackages_6_12;
  boot.kernelPatches = [
    {
      name = "vrq";
      patch = ./vrq.patch;
      structuredExtraConfig = {
        SCHED_VRQ = lib.kernel.yes;
        SCHED_VRQ_DEFAULT = lib.kernel.no;
      };
    }
  ];
  # boot.kernelParams = [ "sched=vrq" ];
}
