/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From the boot loader to main(): Multiboot 1 hands over in 32-bit protected mode without paging.
 * Long mode needs a page table: the first 4 GiB, each address its own. One CPU, no interrupts; an
 * exception ends the machine.
 */
#define MB_MAGIC	0x1badb002
#define EFER		0xc0000080

	.section .multiboot, "a"
	.align	4
	.long	MB_MAGIC, 0, -MB_MAGIC

	.bss
	.align	4096
pml4:	.skip	4096
pdpt:	.skip	4096
pd:	.skip	4 * 4096
stack:	.skip	65536
stack_end:
	.globl	boot_info
boot_info:
	.skip	8

	.data
	.align	16
gdt:	.quad	0
	.quad	0x00209a0000000000	/* 64-bit code */
	.quad	0x00cf92000000ffff	/* data */
gdt_end:
gdt_ptr:
	.word	gdt_end - gdt - 1
	.long	gdt

	.text
	.code32
	.globl	start
start:
	cli
	movl	%ebx, boot_info
	movl	$stack_end, %esp

	/* 2048 pages of 2 MiB: present, writable, large */
	movl	$pd, %edi
	movl	$0x83, %eax
	movl	$2048, %ecx
1:	movl	%eax, (%edi)
	movl	$0, 4(%edi)
	addl	$0x200000, %eax
	addl	$8, %edi
	loop	1b

	movl	$pd + 3, %eax
	movl	$pdpt, %edi
	movl	$4, %ecx
2:	movl	%eax, (%edi)
	addl	$4096, %eax
	addl	$8, %edi
	loop	2b
	movl	$pdpt + 3, pml4

	movl	%cr4, %eax
	orl	$0x20, %eax		/* PAE */
	movl	%eax, %cr4
	movl	$pml4, %eax
	movl	%eax, %cr3
	movl	$EFER, %ecx
	rdmsr
	orl	$0x100, %eax		/* LME */
	wrmsr
	movl	%cr0, %eax
	andl	$~0x60000000, %eax	/* caches on */
	orl	$0x80000001, %eax	/* PG, PE */
	movl	%eax, %cr0
	lgdt	gdt_ptr
	ljmpl	$8, $long_mode

	.code64
long_mode:
	movw	$16, %ax
	movw	%ax, %ds
	movw	%ax, %es
	movw	%ax, %ss
	movq	$stack_end, %rsp
	movl	boot_info(%rip), %edi
	call	harness_main
	movl	%eax, %edi
	call	exit
	.section .note.GNU-stack, "", @progbits
