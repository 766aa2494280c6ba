#pragma once
#include <stdint.h>

// The parts of the kernel's Bluetooth management protocol that are used here. libbluetooth-dev has the
// socket's address (hci.h) but not the protocol; the names and layouts are those of the kernel's
// include/net/bluetooth/mgmt.h and of BlueZ's lib/mgmt.h, described in BlueZ's doc/mgmt-api.txt.
// Everything is little-endian and packed.

#define MGMT_INDEX_NONE 0xFFFF

#define MGMT_STATUS_PERMISSION_DENIED 0x14

#define MGMT_OP_GET_CONNECTIONS 0x0015
#define MGMT_OP_STOP_DISCOVERY 0x0024

#define MGMT_EV_CMD_COMPLETE 0x0001
#define MGMT_EV_CMD_STATUS 0x0002
#define MGMT_EV_INDEX_ADDED 0x0004
#define MGMT_EV_INDEX_REMOVED 0x0005
#define MGMT_EV_DEVICE_FOUND 0x0012

struct mgmt_hdr {
    uint16_t opcode;
    uint16_t index;
    uint16_t len;
} __attribute__((packed));

struct mgmt_addr_info {
    uint8_t bdaddr[6];
    uint8_t type;
} __attribute__((packed));

struct mgmt_ev_device_found {
    struct mgmt_addr_info addr;
    int8_t rssi;
    uint32_t flags;
    uint16_t eir_len;
} __attribute__((packed));

struct mgmt_ev_cmd_status {
    uint16_t opcode;
    uint8_t status;
} __attribute__((packed));
