/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The functions that the stand-in has, as the driver's own are declared.
 */
#ifndef FUNCTIONS_H
#define FUNCTIONS_H

#include <linux/types.h>

struct device;
struct vm_area_struct;
struct vm_fault;

int nvidia_isr(int irq, void *nvl);
int nvidia_isr_msix(int irq, void *nvl);
int nvidia_isr_msix_kthread_bh(int irq, void *nv);
void nvidia_vma_open(struct vm_area_struct *vma);
void nvidia_vma_release(struct vm_area_struct *vma);
int nvidia_fault(struct vm_fault *vmf);
int nvidia_p2p_get_pages(u64 token, u32 space, u64 vaddr, u64 length, void **table, void *done, void *data);
int nvidia_p2p_put_pages(u64 token, u32 space, u64 vaddr, void *table);
int nv_pmops_suspend(struct device *dev);
int nv_pmops_resume(struct device *dev);

#endif /* FUNCTIONS_H */
