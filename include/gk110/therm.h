/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Registers of PTHERM (temperature, power and clock gating, and the PWM that sets the voltage), of
 * the clock generators (PCLOCK), and of GPIO, I2C and DisplayPort AUX lines (PGPIO).
 * Sources: rnndb pm/ptherm.xml, pm/gf100_pclock.xml; nouveau
 * nvkm/subdev/{therm/g84,therm/gf119,pmu/gk110,volt/gk104,
 * clk/gk104,gpio/gf119,gpio/gk104,i2c/busgf119,i2c/auxg94}.c.
 */
#ifndef KVGPU_GK110_THERM_H
#define KVGPU_GK110_THERM_H

#include <linux/bits.h>

#define PTHERM_BASE			0x020000
#define PTHERM_SIZE			0x001000
#define PTHERM_INTR_EN			0x020000
#define PTHERM_SENSOR_CFG		0x020008
#define   PTHERM_SENSOR_CFG_ON		BIT(31)
#define PTHERM_INTR			0x020100	/* write 1 to clear */
#define PTHERM_VID_DIV			0x020340
#define PTHERM_VID_DUTY			0x020344
#define   PTHERM_VID_DUTY_VALUE		GENMASK(11, 0)
#define   PTHERM_VID_DUTY_COMMIT	BIT(31)
#define PTHERM_TEMP			0x020400	/* degrees C */
/* Registers of the sequence that powers up GR on GK110 (nouveau pmu/gk110.c, hw/gr.c). */
#define PTHERM_PGOB(i)			(0x020520 + 4 * (i))
#define   PTHERM_PGOB_NR		5
#define   PTHERM_PGOB_BUSY		BIT(31)

/* Root clock sources (voltage-controlled oscillators), in the range of PNVIO, the GPIO unit. */
#define PCLOCK_VCO_BASE			0x00e800
#define PCLOCK_VCO_SIZE			0x000040
#define PCLOCK_VCO(i)			(0x00e800 + 0x20 * (i))
#define PCLOCK_BASE			0x130000
#define PCLOCK_SIZE			0x010000
#define PCLOCK_MEM_PLL			0x132000
#define PCLOCK_MEM_REFPLL		0x132020
#define   PCLOCK_PLL_STRIDE		0x20
#define PCLOCK_PLL(i)			(0x137000 + PCLOCK_PLL_STRIDE * (i))
/* Offsets in the registers of a PLL or a VCO. */
#define   PLL_CTRL			0x00
#define     PLL_CTRL_ENABLE		BIT(0)
#define     PLL_CTRL_SYNC		BIT(2)
#define     PLL_CTRL_NO_LOCK_CHECK	BIT(4)
#define     PLL_CTRL_LOCK		BIT(17)		/* read-only */
#define   PLL_COEF			0x04
#define     PLL_COEF_M			GENMASK(7, 0)
#define     PLL_COEF_N			GENMASK(15, 8)
#define     PLL_COEF_P			GENMASK(21, 16)
/* of PCLOCK_MEM_PLL, in place of P: 1 divides by 2, 0 by 1 */
#define     PLL_COEF_MEM_P2		BIT(28)
#define   PLL_FRAC			0x10
#define     PLL_FRAC_N			GENMASK(31, 16)
/* no fraction: nouveau clk/gk104.c adds 0x1000 to it, in 16 bits */
#define     PLL_FRAC_NONE		0xf000
/*
 * Source of the clock of domains 0 to 6, one bit each. 1: the PLL, 0: the divider (PCLOCK_DIV). For
 * domains from 7 on, PCLOCK_DIV_SRC selects the source (nouveau clk/gk104.c).
 */
#define PCLOCK_SRC_SEL			0x137100
#define PCLOCK_PLL_SRC(i)		(0x137120 + 4 * (i))
/* Divider between PLL i and its source PCLOCK_PLL_SRC(i) (nouveau clk/gk104.c). */
#define PCLOCK_PLL_DIV(i)		(0x137140 + 4 * (i))
#define PCLOCK_DIV_SRC(i)		(0x137160 + 4 * (i))
#define   PCLOCK_DIV_SRC_SEL		GENMASK(1, 0)
#define     PCLOCK_DIV_SRC_REF		0
#define     PCLOCK_DIV_SRC_100MHZ	2
#define     PCLOCK_DIV_SRC_VCO		3
#define   PCLOCK_DIV_SRC_OTHER_VCO	BIT(8)
/* If SEL is REF: the value 3 selects 108 MHz, any other value selects the crystal. */
#define   PCLOCK_DIV_SRC_108MHZ		GENMASK(17, 16)
#define PCLOCK_DIV(i)			(0x1371d0 + 4 * (i))
#define   PCLOCK_DIV_ENABLE		BIT(31)
#define   PCLOCK_DIV_HALVES		GENMASK(5, 0)	/* divides by (value + 2) / 2 */
#define PCLOCK_POST_DIV(i)		(0x137250 + 4 * (i))
#define   PCLOCK_POST_DIV_ENABLE	BIT(31)
/* divides by (value + 2) / 2, with a PLL as source */
#define   PCLOCK_POST_DIV_PLL		GENMASK(13, 8)
/* divides by (value + 2) / 2, with a divider as source */
#define   PCLOCK_POST_DIV_DIV		GENMASK(5, 0)
#define   PCLOCK_NR_DOMAIN		16
/* Source and divider of the clock for the memory's reference PLL (nouveau clk/gk104.c). */
#define PCLOCK_MEM_DIV_SRC		0x137320
#define PCLOCK_MEM_DIV			0x137330
#define PCLOCK_MEM_SRC			0x1373f4
#define   PCLOCK_MEM_SRC_SEL		GENMASK(3, 0)
#define     PCLOCK_MEM_SRC_REFPLL	1
#define     PCLOCK_MEM_SRC_PLL		2

#define PGPIO_BASE			0x00d000
#define PGPIO_SIZE			0x001800
#define PGPIO_UPPER_BASE		0x00e840
#define PGPIO_UPPER_SIZE		0x0007c0
#define   PGPIO_I2C_STRIDE		0x20
#define PGPIO_I2C(port)			(0x00d014 + PGPIO_I2C_STRIDE * (port))
#define   PGPIO_I2C_NR			10
#define   PGPIO_I2C_DRIVE_SCL		BIT(0)
#define   PGPIO_I2C_DRIVE_SDA		BIT(1)
#define   PGPIO_I2C_SENSE_SCL		BIT(4)
#define   PGPIO_I2C_SENSE_SDA		BIT(5)
#define PGPIO_TRIGGER			0x00d604
#define PGPIO_LINE(i)			(0x00d610 + 4 * (i))
#define   PGPIO_LINE_NR			32
#define   PGPIO_LINE_OUT		BIT(12)
/* 1: output, 0: input. */
#define   PGPIO_LINE_OUT_EN		BIT(13)
#define   PGPIO_LINE_IN			BIT(14)
#define PGPIO_INTR0			0x00dc00	/* write 1 to clear */
#define PGPIO_INTR_EN0			0x00dc08
#define PGPIO_AUX_INTR			0x00dc60	/* write 1 to clear */
#define PGPIO_AUX_INTR_EN		0x00dc68
#define PGPIO_INTR1			0x00dc80	/* write 1 to clear */
#define PGPIO_INTR_EN1			0x00dc88
#define   PGPIO_AUX_STRIDE		0x50
#define PGPIO_AUX_CTRL(ch)		(0x00e4e4 + PGPIO_AUX_STRIDE * (ch))
#define   PGPIO_AUX_NR			4
#define   PGPIO_AUX_CTRL_START		BIT(16)
#define   PGPIO_AUX_CTRL_REQ		GENMASK(21, 20)
#define   PGPIO_AUX_CTRL_REP		GENMASK(25, 24)
#define PGPIO_AUX_STAT(ch)		(0x00e4e8 + PGPIO_AUX_STRIDE * (ch))
#define   PGPIO_AUX_STAT_SINK		BIT(28)
#define PGPIO_TACH_CTRL			0x00e720
#define PGPIO_TACH_COUNT		0x00e728

#endif
