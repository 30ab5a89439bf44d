"""The pages: permission, form, one call, one template."""
